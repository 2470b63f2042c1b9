//! Help and version of the laboratory's command.

use crate::common::{bad, good, run};

#[test]
fn every_help_has_examples() {
    let output = run(&["--help"]);
    let help = good(&output);
    assert!(help.contains("Examples:\n  popfib-lab "));
    for command in ["bench", "evaluate", "replay", "verify", "info", "png"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        for flag in ["--help", "-h"] {
            let output = run(&[command, flag]);
            assert!(
                good(&output).contains("Examples:\n  popfib-lab "),
                "{command}"
            );
            assert!(good(&output).contains(&format!("popfib-lab {command}")));
        }
    }
}

#[test]
fn the_version_is_the_packages() {
    let version = format!("popfib-lab {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(good(&run(&["--version"])), version);
}

#[test]
fn a_kernel_that_is_none_is_one_line_of_every_subcommand() {
    for command in [
        &["bench", "--traffic", "random"][..],
        &["evaluate", "--quick", "-o", "nowhere"],
        &["replay", "--table", "none", "--updates", "none"],
        &["verify"],
        &["info"],
    ] {
        let mut program = std::process::Command::new(crate::common::PROGRAM);
        program.args(command).env("POPFIB_KERNEL", "avx513");
        let output = program.output().expect("the program starts");
        assert!(
            bad(&output).starts_with("POPFIB_KERNEL: no kernel `avx513`: "),
            "{command:?}"
        );
    }
}
