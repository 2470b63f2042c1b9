//! The comparison of all doors, by a daemon that serves the table as a file and is given another.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use super::Follow;
use super::http::Http;
use crate::common::comparison::versions;
use crate::common::path;

#[test]
fn the_table_of_all_doors() {
    let [first, second] = versions("comparison-daemon");
    let served = path("comparison-served");
    fs::copy(&first.file, &served).unwrap();
    let table = format!("t={served}");
    let mut follow = Follow::start("comparison", &["--table", &table, "--http", "127.0.0.1:0"]);
    let mut client = Http::connect(follow.connect("HTTP on"));
    // In parts: who writes reads nothing meanwhile.
    let in_parts = |count, asked: String, ask: &mut dyn FnMut(&str) -> String| -> String {
        let lines: Vec<&str> = asked.split_inclusive('\n').collect();
        lines
            .chunks(count)
            .map(|part| ask(&part.concat()))
            .collect()
    };
    let mut by_http = |part: &str| {
        let (status, _, body) = client.post("/v1/lookup", part);
        assert_eq!(status, 200, "{body}");
        body
    };
    let mut by_socket = |part: &str| follow.ask(part);
    first.check(&in_parts(20_000, first.asked(), &mut by_http));
    first.check(&in_parts(1_000, first.asked(), &mut by_socket));
    fs::rename(&second.image, &served).unwrap();
    // Which is the first that has another answer now?
    let mut both = first.questions.iter().zip(&second.questions);
    let ((address, old), _) = both.find(|((_, old), (_, new))| old != new).unwrap();
    while follow.ask(address).trim_end().ends_with(old.as_str()) {
        sleep(Duration::from_millis(20));
    }
    second.check(&in_parts(20_000, second.asked(), &mut by_http));
    second.check(&in_parts(1_000, second.asked(), &mut by_socket));
}
