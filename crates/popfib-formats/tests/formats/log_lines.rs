//! Lines of the logs of many systems, in which every address is marked: all of them are found, and nothing else.

use popfib_formats::addresses::find_address;

#[test]
fn every_marked_address_is_found_and_nothing_else() {
    let corpus = include_str!("../data/log-lines.txt");
    let lines = corpus
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# ") && !line.starts_with("## "));
    let mut count = 0;
    for marked in lines {
        let marked = marked.replace('␛', "\x1b");
        let mut line = String::new();
        let mut expected = Vec::new();
        for (index, piece) in marked.split(['«', '»']).enumerate() {
            if index % 2 == 1 {
                expected.push(piece.to_owned());
            }
            line.push_str(piece);
        }
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(one) = find_address(line.as_bytes(), at) {
            at = one.range.end;
            found.push(line[one.range].to_owned());
        }
        assert_eq!(found, expected, "{line}");
        count += 1;
    }
    assert!(count > 90, "only {count} lines");
}
