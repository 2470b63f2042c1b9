//! The attributes of BGP paths as columns.

use popfib_formats::{LoadOptions, LookupTable, RouteValue};

use super::records::{lines, options};
use crate::common::{error, read};
use crate::mrt_file::{as_path, next_hop, path_attribute, peer_table, rib};

/// The attributes of the best path, of one dump in both of its forms.
#[test]
fn attributes_of_paths_are_columns() {
    let large = [0, 0, 0xfb, 0xf4, 0, 0, 0, 1, 0, 0, 0, 2];
    let first = [
        path_attribute(1, &[0]),
        as_path(&[(2, &[64500, 7]), (1, &[1, 2])]),
        next_hop([1; 4]),
        path_attribute(4, &[0, 0, 0, 5]),
        path_attribute(5, &[0, 0, 0, 100]),
        path_attribute(6, &[]),
        path_attribute(7, &[0, 0, 0xfb, 0xf4, 9, 9, 9, 9]),
        path_attribute(8, &[0xfb, 0xf4, 0, 1, 0xff, 0xff, 0xff, 1]),
        path_attribute(32, &large),
    ];
    let second = [as_path(&[(2, &[64501])]), next_hop([2; 4])];
    let longer = [as_path(&[(2, &[64501, 1, 2, 3, 4])]), next_hop([2; 4])];
    let mrt = [
        peer_table(&[([192, 0, 2, 1], 64500), ([192, 0, 2, 2], 64501)]),
        rib(2, &[8, 10], &[(0, first.concat()), (1, longer.concat())]),
        rib(2, &[8, 11], &[(1, second.concat())]),
    ]
    .concat();
    let text = b"TABLE_DUMP2|1|B|192.0.2.1|64500|10.0.0.0/8|64500 7 {1,2}|IGP|1.1.1.1|100|5|64500:1 no-export 64500:1:2|AG|64500 9.9.9.9|
TABLE_DUMP2|1|B|192.0.2.2|64501|10.0.0.0/8|64501 1 2 3 4||2.2.2.2|0|0||NAG||
TABLE_DUMP2|1|B|192.0.2.2|64501|11.0.0.0/8|64501||2.2.2.2|0|0||NAG||
";
    let columns = [
        "next_hop: text",
        "origin_as: text",
        "as_path: text",
        "peer: text",
        "peer_as: integer",
        "communities: list of texts",
        "local_preference: integer",
        "med: integer",
        "origin: text",
        "aggregator: text",
        "atomic: boolean",
    ];
    let routes = [
        r#"10.0.0.0/8 "1.1.1.1" "{1,2}" "64500 7 {1,2}" "192.0.2.1" 64500 64500:1,no-export,64500:1:2 100 5 "IGP" "64500 9.9.9.9" true"#,
        r#"11.0.0.0/8 "2.2.2.2" "64501" "64501" "192.0.2.2" 64501 - - - - - false"#,
    ];
    for file in [&mrt[..], text] {
        assert_eq!(lines(file, &["*"]), [&columns[..], &routes].concat());
        let wanted = [
            "origin_as: text",
            "med: integer",
            r#"10.0.0.0/8 "{1,2}" 5"#,
            r#"11.0.0.0/8 "64501" -"#,
        ];
        assert_eq!(lines(file, &["origin_as", "med"]), wanted);
        // What only some paths have, by itself.
        let table = read(file, &options(&["communities"])).unwrap();
        let found = crate::common::routes(&table);
        assert_eq!(
            found,
            ["10.0.0.0/8 64500:1,no-export,64500:1:2", "11.0.0.0/8 "]
        );
        assert_eq!(table.remarks(), ["1 route without communities"]);
        let message = error(file, &options(&["origin_as", "x"]));
        assert!(
            message.starts_with("t: no column \"x\" in \"origin_as\", \"next_hop\""),
            "{message}"
        );
        // The value among all is the one that is asked for.
        for (value, wanted) in [
            (RouteValue::NextHop, "2.2.2.2"),
            (RouteValue::OriginAs, "64501"),
            (RouteValue::Peer, "192.0.2.2"),
        ] {
            let options = LoadOptions {
                value,
                ..options(&["*"])
            };
            let table = LookupTable::from(read(file, &options).unwrap());
            let address = "11.0.0.1".parse().unwrap();
            let number = table.lookup(address).unwrap();
            assert_eq!(table.value(number).as_deref(), Some(wanted));
        }
    }
}
