//! The prompt of the router that printed a listing: a line in, whether it is a command and no row out.
//!
//! A capture of a terminal begins with the command that made it, after the
//! router's prompt: `r1#show ip route`, `<r1>display ...`, `[admin@r1] > /ip route
//! print`. What begins like that further down is one more command, or the prompt
//! alone. No other line is taken for a prompt: rows begin with `>` and `#` too.

/// The beginnings of the commands that come above a listing.
const COMMANDS: [&str; 12] = [
    "sh", "dis", "ip ", "/ip", "get ", "run ", "do ", "term", "screen", "set ", "bird", "vtysh",
];

/// The prompt of one listing, once its command has been seen.
#[derive(Debug, Default)]
pub(crate) struct Prompt(String);

impl Prompt {
    /// Whether `line` is a command after the prompt, or the prompt alone.
    pub(crate) fn begins(&self, line: &str) -> bool {
        !self.0.is_empty() && line.trim_start().starts_with(&self.0)
    }

    /// Whether `line` is the first command, whose prompt is known from here on.
    pub(crate) fn learn(&mut self, line: &str) -> bool {
        let line = line.trim();
        let Some(end) = end_of_prompt(line) else {
            // A command alone, without the prompt before it.
            return line.starts_with("show ");
        };
        let command = line[end..].trim_start();
        let is_command = COMMANDS.iter().any(|known| command.starts_with(known));
        if is_command && self.0.is_empty() {
            line[..end].clone_into(&mut self.0);
        }
        is_command
    }
}

/// Where what may be a prompt ends: a name and one of `#`, `>`, `$`, or either in brackets.
fn end_of_prompt(line: &str) -> Option<usize> {
    let end = match line.as_bytes().first()? {
        b'<' => line.find('>')?,
        b'[' => line.find(']')? + line[line.find(']')?..].find(['>', '#', '$'])?,
        first if first.is_ascii_alphanumeric() => line.find(['#', '>', '$'])?,
        _ => return None,
    };
    // FortiOS has a blank before the sign, and a VDOM in parentheses.
    let name = line[..end].split(" (").next()?.trim_end();
    let is_name = name.starts_with('[') || !name.contains([' ', '\t']);
    is_name.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_before_commands() {
        for (line, prompt) in [
            ("r1#show ip route", "r1#"),
            ("r1# show ip route", "r1#"),
            ("FGT # get router info routing-table all", "FGT #"),
            (
                "FGT (root) # get router info routing-table all",
                "FGT (root) #",
            ),
            ("<H3C>dis ip routing-table", "<H3C>"),
            ("a@r1> show route", "a@r1>"),
            ("bird> show route", "bird>"),
            ("[admin@m] > /ip route print", "[admin@m] >"),
            ("root@h:~$ ip route", "root@h:~$"),
            ("RP/0/RSP0/CPU0:r1#show bgp", "RP/0/RSP0/CPU0:r1#"),
        ] {
            let mut known = Prompt::default();
            assert!(!known.begins(line));
            assert!(known.learn(line), "{line}");
            assert_eq!(known.0, prompt);
            assert!(known.begins(line) && known.begins(prompt));
            assert!(!known.begins("r2#show ip route") && !known.begins(""));
        }
    }

    #[test]
    fn what_is_no_prompt() {
        for line in [
            "# x",
            "showing",
            "",
            "r1#",
            "router# reload",
            "*> 10.0.0.0",
            "10.0.0.0/8 via",
            "> to 10.0.0.1",
            "[1/0] via 10.0.0.1",
            "<html><body>500 Internal Server Error</body></html>",
            "O>* 10.99.0.0/16 [110/20] via 10.0.0.1, eth0",
            "r>i 3.0.0.0/24       10.1.1.3",
            "S>  5.0.0.0/24       10.1.1.5",
        ] {
            let mut known = Prompt::default();
            assert!(!known.learn(line), "{line}");
        }
    }
}
