//! `popfib kernels`, and `POPFIB_KERNEL` beside it.

use crate::common::{bad, good, popfib};
use popfib::Kernel;

/// What `popfib kernels` prints where the environment names `forced`.
fn kernels(args: &[&str], forced: Option<&str>) -> std::process::Output {
    let mut command = popfib(&[&["kernels"], args].concat());
    match forced {
        Some(name) => command.env("POPFIB_KERNEL", name),
        None => command.env_remove("POPFIB_KERNEL"),
    };
    command.output().expect("popfib runs")
}

/// All kernels, those that can run, and the one of them that does.
#[test]
fn kernels_are_listed_with_the_one_that_is_chosen() {
    for forced in Kernel::list()
        .map(|kernel| Some(kernel.name()))
        .chain([None])
    {
        let output = kernels(&[], forced);
        let lines: Vec<(&str, &str)> = good(&output)
            .lines()
            .map(|line| line.split_once('\t').expect("two columns"))
            .collect();
        let names: Vec<&str> = lines.iter().map(|line| line.0).collect();
        assert_eq!(names, Kernel::ALL_NAMES);
        let (mut chosen, mut available) = (Vec::new(), Vec::new());
        for (name, state) in lines {
            match state {
                "chosen" => chosen.push(name),
                "available" => available.push(name),
                _ => assert_eq!(state, "unavailable"),
            }
            assert_eq!(
                state != "unavailable",
                Kernel::by_name(name).is_ok(),
                "{name}"
            );
        }
        assert_eq!(chosen.len(), 1);
        if let Some(forced) = forced {
            assert_eq!(chosen, [forced]);
        }
        let json = kernels(&["--json"], forced);
        let line = format!(
            r#"{{"kernel":"{}","available":true,"chosen":true}}"#,
            chosen[0]
        );
        assert!(good(&json).lines().any(|l| l == line), "{line}");
    }
    let output = kernels(&[], Some("avx513"));
    assert!(bad(&output).starts_with("POPFIB_KERNEL: no kernel `avx513`: "));
}
