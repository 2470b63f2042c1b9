//! The feature `serde`: what prefixes and maps look like in formats of text and of bytes, and what is
//! refused.

use popfib::map::Shared;
use popfib::{IpMap, IpPrefix, IpSet, Prefix, PrefixMap, PrefixSet};
use serde_test::{Configure, Token, assert_de_tokens_error, assert_tokens};

#[test]
fn prefixes_are_text_or_bytes() {
    let prefix: Prefix<u32> = "192.0.2.0/24".parse().unwrap();
    assert_tokens(&prefix.readable(), &[Token::Str("192.0.2.0/24")]);
    let bytes = [
        Token::Tuple { len: 5 },
        Token::U8(192),
        Token::U8(0),
        Token::U8(2),
        Token::U8(0),
        Token::U8(24),
        Token::TupleEnd,
    ];
    assert_tokens(&prefix.compact(), &bytes);
    let prefix: IpPrefix = "2001:db8::/32".parse().unwrap();
    assert_tokens(&prefix.readable(), &[Token::Str("2001:db8::/32")]);
    let prefix: IpPrefix = "10.0.0.0/8".parse().unwrap();
    let address = [
        Token::Tuple { len: 2 },
        Token::NewtypeVariant {
            name: "IpAddr",
            variant: "V4",
        },
        Token::Tuple { len: 4 },
        Token::U8(10),
        Token::U8(0),
        Token::U8(0),
        Token::U8(0),
        Token::TupleEnd,
        Token::U8(8),
        Token::TupleEnd,
    ];
    assert_tokens(&prefix.compact(), &address);
}

#[test]
fn what_is_no_prefix_is_refused() {
    for text in ["10.0.0.1/8", "10.0.0.0/33", "ten\"\n"] {
        let found = serde_json::from_str::<Prefix<u32>>(&format!("{text:?}")).unwrap_err();
        let error = text.parse::<Prefix<u32>>().unwrap_err();
        let expected = format!("`{}`: {error}", text.escape_debug());
        assert!(found.to_string().starts_with(&expected), "{found}");
    }
    let bytes = |last: u8, len: u8| {
        [
            Token::Tuple { len: 2 },
            Token::U8(last),
            Token::U8(len),
            Token::TupleEnd,
        ]
    };
    let refused = |tokens: &[Token], key: &str| {
        let expected = key.parse::<Prefix<u32>>().unwrap_err().to_string();
        let expected = expected.replace("32", "8");
        assert_de_tokens_error::<serde_test::Compact<Prefix<u8>>>(tokens, &expected);
    };
    refused(&bytes(1, 7), "10.0.0.1/8");
    refused(&bytes(0, 9), "10.0.0.0/33");
    let short = [Token::Tuple { len: 1 }, Token::U8(1), Token::TupleEnd];
    let error = "invalid length 1, expected 1 bytes of an address and a prefix length";
    assert_de_tokens_error::<serde_test::Compact<Prefix<u8>>>(&short, error);
    for text in [
        r#"[["10.0.0.0/8", 1], ["10.0.0.1/8", 2]]"#,
        r#"[["10.0.0.0/8", 1], ["2001:db8::/32", 2]]"#,
        r#"[["10.0.0.0/8"]]"#,
        r#"[["10.0.0.0/8", "one"]]"#,
        r#"{"10.0.0.0/8": 1}"#,
    ] {
        assert!(
            serde_json::from_str::<PrefixMap<u32, u32>>(text).is_err(),
            "{text}"
        );
    }
}

#[test]
fn maps_and_sets_are_sequences() {
    let table: IpMap<String, Shared> = IpMap::from_text([
        ("2001:db8::/32", String::from("six")),
        ("10.0.0.0/8", String::from("four")),
        ("10.1.0.0/16", String::from("four")),
    ])
    .unwrap();
    let text = r#"[["10.0.0.0/8","four"],["10.1.0.0/16","four"],["2001:db8::/32","six"]]"#;
    assert_eq!(serde_json::to_string(&table).unwrap(), text);
    let read: IpMap<String, Shared> = serde_json::from_str(text).unwrap();
    read.check().unwrap();
    assert_eq!(read, table);
    assert_eq!((read.ipv4().len(), read.ipv4().pair_count()), (2, 2));

    let text = r#"[["a.b.c.d/8",1]]"#;
    let error = serde_json::from_str::<IpMap<u8>>(text).unwrap_err();
    assert!(error.to_string().starts_with("`a.b.c.d/8`: "), "{error}");

    // The last of two stays.
    let text = r#"[["10.0.0.0/8",1],["10.0.0.0/8",2]]"#;
    let map: PrefixMap<u32, u32> = serde_json::from_str(text).unwrap();
    map.check().unwrap();
    assert_eq!(
        serde_json::to_string(&map).unwrap(),
        r#"[["10.0.0.0/8",2]]"#
    );

    let set: PrefixSet<u128> = ["2001:db8::/32".parse().unwrap()].into();
    let text = serde_json::to_string(&set).unwrap();
    assert_eq!(text, r#"["2001:db8::/32"]"#);
    assert_eq!(serde_json::from_str::<PrefixSet<u128>>(&text).unwrap(), set);
    let set: IpSet = ["::/0", "0.0.0.0/0"]
        .map(|prefix| prefix.parse::<IpPrefix>().unwrap())
        .into();
    let text = serde_json::to_string(&set).unwrap();
    assert_eq!(text, r#"["0.0.0.0/0","::/0"]"#);
    assert_eq!(serde_json::from_str::<IpSet>(&text).unwrap(), set);

    let map: PrefixMap<u8, bool> = [(Prefix::new(0x80, 1).unwrap(), true)].into();
    let tokens = [
        Token::Seq { len: Some(1) },
        Token::Tuple { len: 2 },
        Token::Tuple { len: 2 },
        Token::U8(0x80),
        Token::U8(1),
        Token::TupleEnd,
        Token::Bool(true),
        Token::TupleEnd,
        Token::SeqEnd,
    ];
    assert_tokens(&map.compact(), &tokens);
}
