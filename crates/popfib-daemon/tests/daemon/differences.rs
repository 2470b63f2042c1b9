//! `popfib diff --updates`: what it writes makes one table of the other, by `popfib convert` and by the daemon.

use crate::common::{file, good, run, stderr, stdout};
use crate::run_daemon;

/// The updates between two random tables make one of the other.
#[test]
fn updates_make_one_table_of_the_other() {
    let mut random = fastrand::Rng::with_seed(0x2545);
    let mut table = |name: &str| {
        let mut lines = String::from("0.0.0.0/0 192.0.2.1\n");
        for at in 0..40 {
            for prefix in [format!("10.{at}.0.0/16"), format!("2001:db8:{at}::/48")] {
                if random.u8(..3) > 0 {
                    let hop = random.u8(..4);
                    lines += &format!("{prefix} 192.0.2.{hop}\n");
                }
            }
        }
        file(name, lines)
    };
    for round in 0..5 {
        let [old, new] =
            ["diff-random-old", "diff-random-new"].map(|name| table(&format!("{name}-{round}")));
        let expected = run(&["convert", &new]);
        for form in ["text", "exabgp"] {
            let updates = run(&["diff", &old, &new, "--updates", form]);
            assert_eq!(updates.status.code(), Some(1), "{}", stderr(&updates));
            let updates = stdout(&updates).to_owned();
            let updates = match form {
                "text" => updates,
                // Lines of its commands are for a live table, which begins with the old routes.
                _ => {
                    let routes = run(&["convert", &old]);
                    let routes = good(&routes).lines().map(|route| {
                        let (prefix, hop) = route.split_once(' ').expect("a route");
                        format!("announce route {prefix} next-hop {hop}\n")
                    });
                    routes.chain([updates]).collect()
                }
            };
            let updates = file(&format!("diff-updates-{round}-{form}"), updates);
            let made = match form {
                "text" => run(&["convert", &old, "--updates", &updates]),
                _ => {
                    let image = format!("{updates}.fib");
                    good(&run_daemon(&["--updates", &updates, "--publish", &image]));
                    run(&["convert", &image])
                }
            };
            // What was applied is said on standard error.
            assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
            assert_eq!(stdout(&made), good(&expected), "{round} {form}");
        }
        let none = run(&["diff", &new, &new, "--updates", "text"]);
        assert_eq!((none.status.code(), stdout(&none)), (Some(0), ""));
    }
}
