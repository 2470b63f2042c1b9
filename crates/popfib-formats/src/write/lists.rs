//! The templates of lists.

use super::bytes::push;
use super::form::{Body, Form};
use super::list::{List, NameRule};

/// Names as Cisco, Junos, nftables, pf and others take them without quotes.
const fn names_to(longest: usize) -> Option<NameRule> {
    Some(NameRule {
        longest,
        signs: "-.",
    })
}

const fn form(name: &'static str, description: &'static str, list: List) -> Form {
    Form {
        name,
        alias: None,
        description,
        body: Body::List(list),
    }
}

pub(super) static PLAIN: Form = form("plain", "prefixes alone, one a line", List::PLAIN);

pub(super) static CISCO_PREFIX_LIST: Form = form(
    "cisco-prefix-list",
    "prefix lists of Cisco IOS; existing lists of these names are replaced",
    List {
        open: ["no ip prefix-list {name}\n", "no ipv6 prefix-list {name}\n"],
        ..PREFIX_LISTS
    },
);

pub(super) static FRR: Form = form("frr", "prefix lists of FRR", PREFIX_LISTS);

const PREFIX_LISTS: List = List {
    is_apart: true,
    each: [
        "ip prefix-list {name} permit {prefix}{bounds}\n",
        "ipv6 prefix-list {name} permit {prefix}{bounds}\n",
    ],
    name: names_to(63),
    // Lists that are longer than the prefix and up to the bound.
    bounds: Some(|out, len, low, high, width| {
        if low > len {
            push(out, format_args!(" ge {low}"));
        }
        if high > len && (high < width || low == len) {
            push(out, format_args!(" le {high}"));
        }
    }),
    ..List::PLAIN
};

pub(super) static CISCO_ACL: Form = form(
    "cisco-acl",
    "access lists of Cisco IOS, by source; the IPv6 list has the suffix _v6",
    List {
        is_apart: true,
        open: [
            "no ip access-list standard {name}\nip access-list standard {name}\n",
            "no ipv6 access-list {name}_v6\nipv6 access-list {name}_v6\n",
        ],
        each: [
            " permit {address} {wildcard}\n",
            " permit ipv6 {prefix} any\n",
        ],
        name: names_to(63),
        ..List::PLAIN
    },
);

pub(super) static JUNOS_PREFIX_LIST: Form = form(
    "junos-prefix-list",
    "a prefix list of Junos; an existing list of this name is replaced",
    List {
        open: [
            "policy-options {{\nreplace:\n    prefix-list {name} {{\n",
            "",
        ],
        each: ["        {prefix};\n"; 2],
        close: ["    }}\n}}\n", ""],
        name: names_to(63),
        ..List::PLAIN
    },
);

pub(super) static JUNOS_ROUTE_FILTER: Form = form(
    "junos-route-filter",
    "route filter lists of Junos; the IPv6 list has the suffix _v6",
    List {
        is_apart: true,
        open: [
            "policy-options {{\nreplace:\n    route-filter-list {name} {{\n",
            "policy-options {{\nreplace:\n    route-filter-list {name}_v6 {{\n",
        ],
        each: ["        {prefix}{bounds};\n"; 2],
        close: ["    }}\n}}\n"; 2],
        name: names_to(63),
        bounds: Some(|out, len, low, high, width| {
            let is_whole = low == len;
            if is_whole && high == len {
                out.extend_from_slice(b" exact");
            } else if is_whole && high == width {
                out.extend_from_slice(b" orlonger");
            } else if is_whole {
                push(out, format_args!(" upto /{high}"));
            } else {
                push(out, format_args!(" prefix-length-range /{low}-/{high}"));
            }
        }),
        ..List::PLAIN
    },
);

pub(super) static BIRD: Form = form(
    "bird",
    "prefix sets of BIRD; the IPv6 set has the suffix _v6",
    List {
        is_apart: true,
        open: ["define {name} = [\n", "define {name}_v6 = [\n"],
        each: ["    {prefix}{bounds}{,}\n"; 2],
        close: ["];\n"; 2],
        name: Some(NameRule {
            longest: 63,
            signs: "",
        }),
        bounds: Some(|out, len, low, high, _| {
            if (low, high) != (len, len) {
                push(out, format_args!("{{{low},{high}}}"));
            }
        }),
        ..List::PLAIN
    },
);

pub(super) static OPENBGPD: Form = form(
    "openbgpd",
    "a prefix set of OpenBGPD",
    List {
        open: ["prefix-set \"{name}\" {{\n", ""],
        each: ["\t{prefix}{bounds}\n"; 2],
        close: ["}}\n", ""],
        name: names_to(63),
        bounds: Some(|out, len, low, high, _| {
            if (low, high) == (len, len) {
                return;
            }
            if low == high {
                push(out, format_args!(" prefixlen = {low}"));
            } else {
                push(out, format_args!(" prefixlen {low} - {high}"));
            }
        }),
        ..List::PLAIN
    },
);

pub(super) static NFTABLES: Form = form(
    "nftables",
    "sets of nftables in the table inet popfib; the IPv6 set has the suffix _v6",
    List {
        is_apart: true,
        start: "table inet popfib {{\n",
        open: [
            "\tset {name} {{\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\tauto-merge\n\t\telements = {{\n",
            "\tset {name}_v6 {{\n\t\ttype ipv6_addr\n\t\tflags interval\n\t\tauto-merge\n\t\telements = {{\n",
        ],
        each: ["\t\t\t{prefix}{,}\n"; 2],
        close: ["\t\t}}\n\t}}\n"; 2],
        end: "}}\n",
        name: names_to(31),
        ..List::PLAIN
    },
);

pub(super) static IPSET: Form = form(
    "ipset",
    "input for `ipset restore`; the IPv6 set has the suffix _v6",
    List {
        is_apart: true,
        open: [
            "create {name} hash:net family inet maxelem {size}\n",
            "create {name}_v6 hash:net family inet6 maxelem {size}\n",
        ],
        each: ["add {name} {prefix}\n", "add {name}_v6 {prefix}\n"],
        name: names_to(31),
        takes_default: false,
        ..List::PLAIN
    },
);

pub(super) static IPTABLES: Form = form(
    "iptables",
    "input for `iptables-restore` and `ip6tables-restore`: a chain that drops these prefixes",
    List {
        open: ["*filter\n:{name} - [0:0]\n", ""],
        each: [
            "-A {name} -4 -s {prefix} -j DROP\n",
            "-A {name} -6 -s {prefix} -j DROP\n",
        ],
        close: ["COMMIT\n", ""],
        name: names_to(28),
        ..List::PLAIN
    },
);

pub(super) static PF: Form = form(
    "pf",
    "a table of pf",
    List {
        open: ["table <{name}> persist {{\n", ""],
        each: ["    {prefix}{,}\n"; 2],
        close: ["}}\n", ""],
        name: names_to(31),
        ..List::PLAIN
    },
);
