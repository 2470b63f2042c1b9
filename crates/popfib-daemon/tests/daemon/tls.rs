//! TLS as clients speak it that trust a certificate, another or none.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::{bad, file, good, path};
use crate::restart::{port, signal};
use crate::{Follow, program, run_daemon};

/// Files with a certificate of `localhost` and its key; `None` where nothing makes them.
fn certificate(name: &str) -> Option<[String; 2]> {
    let files = ["certificate", "key"].map(|kind| path(&format!("tls-{name}-{kind}.pem")));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt"])
        .args(["ec_paramgen_curve:prime256v1", "-nodes", "-days", "36500"])
        .args(["-subj", &format!("/CN={name}")])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-out", &files[0], "-keyout", &files[1]])
        .output();
    if made.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        println!("skipped: openssl: it is not installed");
        return None;
    }
    assert!(files.iter().all(|file| fs::metadata(file).is_ok()));
    Some(files)
}

/// What a client answers that trusts this file alone.
fn look_up(mut client: Command, trusted: &str) -> Output {
    client.env_remove("SSL_CERT_DIR");
    client.env("SSL_CERT_FILE", trusted).output().unwrap()
}

fn popfib(url: &str) -> Command {
    let mut client = Command::new(program());
    client.args(["lookup", "--live", url, "10.1.2.3"]);
    client
}

fn start(name: &str, options: &[&str]) -> (Follow, SocketAddr) {
    let input = file(&format!("tls-{name}.txt"), "announce 10.0.0.0/8 east\n");
    let always = ["--updates", &input, "--http", "127.0.0.1:0"];
    let mut follow = Follow::start(&format!("tls-{name}"), &[&always[..], options].concat());
    let address = follow.connect("HTTPS on");
    follow.expect("10.1.2.3", ANSWER);
    (follow, address)
}

const ANSWER: &str = "10.1.2.3\t10.0.0.0/8\teast\n";

#[test]
fn clients_that_trust_the_certificate_are_answered_while_others_hang() {
    let (Some([ours, key]), Some([other, _])) = (certificate("ours"), certificate("other")) else {
        return;
    };
    let options = ["--http-certificate", &ours, "--http-key", &key];
    let (_follow, address) = start("clients", &options);
    // They say nothing, or a part of what begins TLS.
    let mut hanging: Vec<_> = (0..100)
        .map(|number| {
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(&[0x16, 3, 1, 2][..number % 5]).unwrap();
            client
        })
        .collect();
    let url = format!("https://localhost:{}", address.port());
    assert_eq!(good(&look_up(popfib(&url), &ours)), ANSWER);
    let mut info = Command::new(program());
    info.args(["info", "--live", &url]);
    assert!(good(&look_up(info, &ours)).contains("routes"));
    let curl = |url: &str| {
        let mut client = Command::new("curl");
        client.args(["-sS", "--cacert", &ours, url]);
        client.output()
    };
    match curl(&format!("{url}/v1/lookup?address=10.1.2.3")) {
        Ok(output) => assert!(good(&output).contains("\"next_hop\":\"east\"")),
        Err(_) => println!("skipped: curl: it is not installed"),
    }
    let python = |trusted: &str| {
        let mut client = Command::new("python3");
        let script = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode(), end='')";
        client.args(["-c", script, &format!("{url}/v1/lookup?address=10.1.2.3")]);
        look_up(client, trusted)
    };
    assert!(good(&python(&ours)).contains("\"next_hop\":\"east\""));
    let refused = python(&other);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("CERTIFICATE_VERIFY_FAILED"));

    // Another certificate, another name, none at all.
    let said = |url: &str, trusted: &str| bad(&look_up(popfib(url), trusted)).to_owned();
    let line = said(&url, &other);
    assert!(
        line.contains("invalid peer certificate: UnknownIssuer; SSL_CERT_FILE names"),
        "{line}"
    );
    let line = said(&format!("https://{address}"), &ours);
    assert!(line.contains("not valid for name"), "{line}");
    let line = said(&url, "/no/such");
    assert!(
        line.contains("/no/such") && line.contains("; SSL_CERT_FILE names"),
        "{line}"
    );
    let line = said(&url, &key);
    assert!(
        line.contains("there are no certificates to trust; SSL_CERT_FILE names a file of certificates to trust, in PEM"),
        "{line}"
    );
    let line = said(&url.replace("localhost", "127.1"), &ours);
    assert!(line.contains("is no name of a host"), "{line}");

    // What is not TLS ends with nothing of HTTP, and hanging clients end, too.
    let mut plain = TcpStream::connect(address).unwrap();
    plain.write_all(b"GET /v1/tables HTTP/1.1\r\n\r\n").unwrap();
    hanging.push(plain);
    for mut client in hanging {
        client
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    }
    // The other way round.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        client.read(&mut [0; 2048]).unwrap()
    });
    let line = said(&format!("https://localhost:{port}"), &ours);
    assert!(line.contains("TLS: received corrupt message"), "{line}");
    answering.join().unwrap();
    let plain = url.replace("https", "http");
    assert!(said(&plain, &ours).contains(&plain));
}

#[test]
fn what_the_files_of_http_have_is_read_again_with_the_settings() {
    let (Some(old), Some(new)) = (certificate("old"), certificate("new")) else {
        return;
    };
    let [ours, key, tokens] =
        ["certificate", "key", "tokens"].map(|kind| file(&format!("tls-reload-{kind}"), ""));
    let put = |[certificate, secret]: &[String; 2], token: &str| {
        fs::copy(certificate, &ours).unwrap();
        fs::copy(secret, &key).unwrap();
        fs::write(&tokens, token).unwrap();
    };
    put(&old, "first\n");
    let input = file("tls-reload.txt", "announce 10.0.0.0/8 east\n");
    let port = port();
    let socket = Follow::socket("tls-reload");
    let text = format!(
        "socket = {socket:?}\nupdates = [{input:?}]\nhttp = \"127.0.0.1:{port}\"\nhttp-tokens = {tokens:?}\nhttp-certificate = {ours:?}\nhttp-key = {key:?}\n"
    );
    let settings = file("tls-reload.toml", text);
    let mut follow = Follow::of("tls-reload", &["--config", &settings]);
    follow.note("HTTPS on");
    follow.expect("10.1.2.3", ANSWER);
    let url = format!("https://localhost:{port}");
    let ask = |trusted: &str, token: &str| {
        let mut client = popfib(&url);
        client.env("POPFIB_TOKEN", token);
        look_up(client, trusted)
    };
    assert_eq!(good(&ask(&old[0], "first")), ANSWER);
    put(&new, "second\n");
    signal(&follow.child, Signal::HUP);
    follow.note("HTTPS on");
    assert_eq!(good(&ask(&new[0], "second")), ANSWER);
    assert!(bad(&ask(&new[0], "first")).contains("no token that is known"));
    assert!(bad(&ask(&old[0], "second")).contains("UnknownIssuer"));
    // What is broken changes nothing, and what is mended is read.
    fs::write(&ours, "").unwrap();
    signal(&follow.child, Signal::HUP);
    follow.note("there is no certificate in it");
    follow.note("read again");
    assert_eq!(good(&ask(&new[0], "second")), ANSWER);
    put(&old, "first\n");
    signal(&follow.child, Signal::HUP);
    follow.note("HTTPS on");
    assert_eq!(good(&ask(&old[0], "first")), ANSWER);
}

#[test]
fn files_that_are_no_certificate_and_key_are_told() {
    let (Some([ours, key]), Some([_, other])) = (certificate("right"), certificate("wrong")) else {
        return;
    };
    let broken = file("tls-broken.pem", "-----BEGIN CERTIFICATE-----\nMIIB!\n");
    let text = file("tls-text.pem", "no certificate\n");
    let hollow = file(
        "tls-hollow.pem",
        "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n",
    );
    for ([certificate, secret], reason) in [
        ([&ours, &other], format!("{other}: not the key of {ours}")),
        (
            [&text, &key],
            format!("{text}: there is no certificate in it (PEM)"),
        ),
        ([&broken, &key], format!("{broken}: ")),
        ([&hollow, &key], format!("{hollow}: ")),
        (
            [&ours, &ours],
            format!("{ours}: there is no key without a passphrase in it (PEM)"),
        ),
        (
            [&"/no/such".to_owned(), &key],
            "/no/such: No such file".to_owned(),
        ),
    ] {
        let options = [
            "--updates",
            "-",
            "--http",
            "127.0.0.1:0",
            "--http-certificate",
            certificate,
            "--http-key",
            secret,
        ];
        let output = run_daemon(&options);
        let line = bad(&output);
        assert!(line.contains(&reason), "{reason}: {line}");
    }
}
