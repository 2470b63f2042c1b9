//! The command where no thread can be started: the same answers by the thread it has.

use std::fmt::Write;

use crate::common::{TABLE, one_thread::OneThread, popfib, stderr, stdout};

#[test]
fn one_thread_gives_the_same_answers() {
    let Some(user) = OneThread::new("one_thread_gives_the_same_answers") else {
        return;
    };
    let table = user.file("routes.txt", TABLE);
    let many = (0..60_000).fold(String::new(), |mut lines, n: u32| {
        let [_, a, b, c] = n.to_be_bytes();
        writeln!(lines, "10.{b}.{c}.{a}/32 {}", n % 9).unwrap();
        lines
    });
    let log = user.file("log", &many.replace("/32", " GET /"));
    let many = user.file("many.txt", &many);
    let (table, log, many) = (table.as_str(), log.as_str(), many.as_str());
    let told = "1 of 64 threads: the system allows no more";
    for args in [
        &["annotate", "-t", table, "--threads", "64", log][..],
        &["annotate", "-t", table, log],
        &["annotate", "--json", "-t", table, log],
        &["count", "-t", table, log],
        &["grep", "-f", table, log],
        &["convert", many, "--to", "csv"],
        &["aggregate", many],
        &["routes", many],
        &["diff", table, many],
        &["explore", many, "-o", "-"],
    ] {
        // A page has the time of its table.
        let [free, bound] = [popfib(args), user.command(args)]
            .map(|mut command| command.env("SOURCE_DATE_EPOCH", "1").output().unwrap());
        assert_eq!(
            bound.status.code(),
            free.status.code(),
            "{args:?}: {}",
            stderr(&bound)
        );
        assert!(stdout(&bound) == stdout(&free), "{args:?}");
        let more = stderr(&bound)
            .strip_prefix(stderr(&free))
            .expect("the same notes");
        assert!(more.lines().count() <= 1, "{args:?}: {more}");
        // Without it the limit would bind nobody, and this test prove nothing.
        assert!(
            !args.contains(&"--threads") || more.contains(told),
            "{more}"
        );
    }
}
