//! Tables by a template: each field against what the standard library makes of the prefix, values as JSON and CSV against readers
//! of these, and what is wrong in a template or for a table.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use popfib::{IpPrefix, Prefix};
use popfib_formats::write::{Template, write_template};
use popfib_formats::{LoadOptions, RouteTable};
use proptest::collection::vec;
use proptest::prelude::*;

use super::records::options;
use super::write::{csv, prefix};
use crate::common::{STRICT, named, read};

fn written(table: &RouteTable, template: &str) -> Result<String, String> {
    let template: Template = template.parse()?;
    let mut out = Vec::new();
    match write_template(&[(None, table)], &template, &mut out) {
        Ok(()) => Ok(String::from_utf8(out).unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

/// A piece of a template, and what it stands for.
#[derive(Clone, Copy, Debug)]
struct Said {
    template: &'static str,
    of: fn(IpPrefix, &str, bool) -> String,
}

/// The network, its mask and its last address, by arithmetic of their own.
fn parts(prefix: IpPrefix) -> (IpAddr, [IpAddr; 3]) {
    let len = u32::from(prefix.len());
    match prefix.address() {
        IpAddr::V4(address) => {
            let hosts = u32::MAX.checked_shr(len).unwrap_or(0);
            let last = u32::from(address) + hosts;
            let [mask, wildcard, last] =
                [!hosts, hosts, last].map(|bits| Ipv4Addr::from(bits).into());
            (address.into(), [mask, wildcard, last])
        }
        IpAddr::V6(address) => {
            let hosts = u128::MAX.checked_shr(len).unwrap_or(0);
            let last = u128::from(address) + hosts;
            let [mask, wildcard, last] =
                [!hosts, hosts, last].map(|bits| Ipv6Addr::from(bits).into());
            (address.into(), [mask, wildcard, last])
        }
    }
}

const SAID: [Said; 17] = [
    Said {
        template: "{prefix}",
        of: |p, _, _| format!("{}/{}", p.address(), p.len()),
    },
    Said {
        template: "{prefix:json}",
        of: |p, _, _| format!("\"{}/{}\"", p.address(), p.len()),
    },
    Said {
        template: "{prefix:csv}",
        of: |p, _, _| p.to_string(),
    },
    Said {
        template: "{address}",
        of: |p, _, _| p.address().to_string(),
    },
    Said {
        template: "{first}",
        of: |p, _, _| parts(p).0.to_string(),
    },
    Said {
        template: "{mask}",
        of: |p, _, _| parts(p).1[0].to_string(),
    },
    Said {
        template: "{wildcard}",
        of: |p, _, _| parts(p).1[1].to_string(),
    },
    Said {
        template: "{last}",
        of: |p, _, _| parts(p).1[2].to_string(),
    },
    Said {
        template: "{length}",
        of: |p, _, _| p.len().to_string(),
    },
    Said {
        template: "{length:json|x}",
        of: |p, _, _| p.len().to_string(),
    },
    Said {
        template: "{family}",
        of: |p, _, _| {
            if p.address().is_ipv4() {
                "ipv4"
            } else {
                "ipv6"
            }
            .into()
        },
    },
    Said {
        template: "{value}",
        of: |_, value, _| value.into(),
    },
    Said {
        template: "{value|none}",
        of: |_, value, _| value.into(),
    },
    Said {
        template: "{,}",
        of: |_, _, last| if last { "" } else { "," }.into(),
    },
    Said {
        template: "{{ }} {{{{",
        of: |_, _, _| "{ } {{".into(),
    },
    Said {
        template: "\\t\\\\n\\n",
        of: |_, _, _| "\t\\n\n".into(),
    },
    Said {
        template: " %n λ\r|:",
        of: |_, _, _| " %n λ\r|:".into(),
    },
];

fn table(routes: &[(IpPrefix, String)]) -> RouteTable {
    let lines: String = routes
        .iter()
        .map(|(p, value)| format!("{p} {value}\n"))
        .collect();
    read(lines, &STRICT).unwrap()
}

proptest! {
    #[test]
    fn every_field_is_what_it_says(
        routes in vec((prefix(), "[a-z0-9.]{1,9}"), 1..20),
        lines in vec(vec(0..SAID.len(), 0..6), 1..5),
        (before, after, end) in (0usize..3, 0usize..3, any::<bool>()),
    ) {
        let is_field = |said: &usize| !matches!(SAID[*said].template.as_bytes(), [b'{', b'{', ..] | [b'\\' | b' ', ..]);
        prop_assume!(lines[0].iter().any(is_field) && lines[lines.len() - 1].iter().any(is_field));
        let table = table(&routes);
        let text = |said: &Vec<usize>| said.iter().map(|&at| SAID[at].template).collect::<String>();
        let mut template: Vec<String> = vec!["# {{}}".to_owned(); before];
        template.extend(lines.iter().map(text));
        template.extend(vec!["\\\\end".to_owned(); after]);
        let template = template.join("\n") + if end { "\n" } else { "" };
        let mut wanted = "# {}\n".repeat(before);
        let routes: Vec<_> = table.routes().collect();
        for (at, &(prefix, number)) in routes.iter().enumerate() {
            let value = table.value(number);
            for line in &lines {
                for &said in line {
                    wanted += &(SAID[said].of)(prefix, &value, at + 1 == routes.len());
                }
                wanted += "\n";
            }
        }
        wanted += &"\\end\n".repeat(after);
        prop_assert_eq!(written(&table, &template), Ok(wanted), "{}", template);
    }

    #[test]
    fn values_are_read_back_from_json_and_csv(
        rows in vec((any::<u32>(), "[ -~]{0,9}", "[ ,;#\"\\\\\t\r\u{85}\u{2028}üλ]{0,4}", any::<i64>()), 1..9)
    ) {
        let mut lines = String::new();
        for (bits, plain, odd, number) in &rows {
            let prefix = Prefix::new_masked(*bits, 24).unwrap();
            let object = serde_json::json!({"prefix": prefix.to_string(), "a": plain, "b c": odd, "n": number, "l": [number, 7]});
            writeln!(lines, "{object}").unwrap();
        }
        let Ok(table) = read(lines, &options(&["*"])) else {
            // What no table holds.
            return Ok(());
        };
        let records = &table.records;
        let json = written(&table, "{{\"a\":{a:json},\"b\":{b c:json|0},\"n\":{n:json},\"l\":{l:json}}}").unwrap();
        let fields = csv(&written(&table, "{a:csv},{b c:csv},{n:csv},{l:csv}").unwrap());
        let json: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!((json.len(), fields.len()), (table.route_count(), table.route_count()));
        for ((_, number), (json, fields)) in table.routes().zip(json.iter().zip(&fields)) {
            for (at, (name, column)) in [("a", "a"), ("b", "b c"), ("n", "n"), ("l", "l")].into_iter().enumerate() {
                let cell = records.column(column).and_then(|column| records.cell(number, column));
                let text = cell.map(|cell| cell.to_string());
                prop_assert_eq!(&fields[at], &text.clone().unwrap_or_default());
                match (name, text) {
                    ("b", None) => prop_assert_eq!(&json[name], 0),
                    (_, None) => prop_assert!(json[name].is_null()),
                    ("n", Some(text)) => prop_assert_eq!(json[name].to_string(), text),
                    ("l", Some(text)) => prop_assert_eq!(json[name].to_string(), format!("[{}]", text)),
                    (_, Some(text)) => prop_assert_eq!(json[name].as_str(), Some(&text[..])),
                }
            }
        }
    }
}

#[test]
fn lines_with_fields_are_repeated_and_others_are_not() {
    let table = table(&[
        ("10.0.0.0/8".parse().unwrap(), "a".to_owned()),
        ("2001:db8::/32".parse().unwrap(), "b".to_owned()),
    ]);
    let template = "[\n {{\n{prefix:json}:\n1\n{value:json}{,}\n}}\n]\n\n";
    let wanted = "[\n {\n\"10.0.0.0/8\":\n1\n\"a\",\n\"2001:db8::/32\":\n1\n\"b\"\n}\n]\n\n";
    assert_eq!(written(&table, template).unwrap(), wanted);
    let entry = "list\nentry {{\\n  {value}\\n}}\nend";
    let wanted = "list\nentry {\n  a\n}\nentry {\n  b\n}\nend\n";
    assert_eq!(written(&table, entry).unwrap(), wanted);
    let none = RouteTable::default();
    assert_eq!(written(&none, "a\n{prefix} {value}\nb").unwrap(), "a\nb\n");
}

#[test]
fn columns_by_their_names() {
    let text = "prefix,cc,owner.name,family\n10.0.0.0/8,AT,\"a \"\"b\"\"\",1\n10.1.0.0/16,,x,\n";
    let all = read(text, &options(&["*"])).unwrap();
    let lines = written(&all, "{prefix} {cc|-} {value} {owner.name}").unwrap();
    assert_eq!(lines, "10.0.0.0/8 AT AT a \"b\"\n10.1.0.0/16 -  x\n");
    let one = LoadOptions {
        columns: named("cc"),
        ..STRICT.clone()
    };
    let one = read(text, &one).unwrap();
    assert_eq!(written(&one, "{cc} {value}").unwrap(), "AT AT\n \n");
    let list = read("10.0.0.0/8\n", &STRICT).unwrap();
    assert_eq!(written(&list, "{prefix}").unwrap(), "10.0.0.0/8\n");
    let others = "other fields are prefix, address, length, mask, wildcard, first, last, family";
    for (table, template, reason) in [
        (
            &all,
            "{c}",
            format!("no column \"c\" in \"cc\", \"owner.name\", \"family\"; {others}"),
        ),
        (
            &one,
            "{mask} {c}",
            format!("no column \"c\" in \"cc\"; {others}"),
        ),
        (
            &list,
            "{value}",
            format!("no column \"value\" in a list without values; {others}"),
        ),
        (
            &all,
            "{family}",
            "a column is called \"family\", as a field of prefixes is".to_owned(),
        ),
    ] {
        assert_eq!(written(table, template), Err(reason), "{template}");
    }
}

#[test]
fn what_would_break_a_line_is_refused() {
    let text = "{\"prefix\":\"10.0.0.0/8\",\"a\":\"x\\ny\",\"b\":1}\n";
    let table = read(text, &options(&["*"])).unwrap();
    assert_eq!(
        written(&table, "{a}").unwrap_err(),
        "10.0.0.0/8 \"x\\ny\": a control character, for which a field needs :json or :csv"
    );
    assert_eq!(written(&table, "{a:json}").unwrap(), "\"x\\ny\"\n");
    assert_eq!(written(&table, "{a:csv}").unwrap(), "\"x\ny\"\n");
}

#[test]
fn what_is_no_template() {
    for (template, reason) in [
        ("", "a template without a field; fields are prefix, "),
        ("{{prefix}}", "a template without a field; "),
        ("{", "a { without a }; {{ is the brace itself"),
        ("{prefix", "a { without a }; {{ is the brace itself"),
        (
            "geo { {prefix}; }",
            "\" {prefix\": a { inside of braces; {{ is the brace itself",
        ),
        ("{prefix\n}", "a { without a }; {{ is the brace itself"),
        ("{prefix}}", "a } without a {; }} is the brace itself"),
        ("{}", "{} names no field; {{ and }} are braces themselves"),
        (
            "{:json}",
            "{} names no field; {{ and }} are braces themselves",
        ),
        (
            "{a:xml}",
            "\"xml\": not a way to write a field; there are json and csv",
        ),
        (
            "\\d{prefix}",
            "a backslash without n or t after it; \\\\ is the backslash itself",
        ),
        (
            "{prefix}\\",
            "a backslash without n or t after it; \\\\ is the backslash itself",
        ),
    ] {
        let error = template.parse::<Template>().expect_err(template);
        assert!(error.starts_with(reason), "{template}: {error}");
    }
}
