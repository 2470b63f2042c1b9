//! The templates of lists: one for each language, out of which [`list`](super::list) makes a list of any table.
//!
//! A list that is loaded again should replace the old one and not add to it: the templates of Cisco IOS and Junos see to
//! that themselves. Names are limited as each program limits them: it would cut longer ones off, or
//! refuse the whole file.

use super::bytes::push;
use super::form::{WriteEntry, WriteMethod};
use super::list::{ListChanges, ListTemplate, NameRule};

/// Names as Cisco, Junos, nftables, pf and others take them without quotes, of at most `longest` bytes.
const fn names_to(longest: usize) -> Option<NameRule> {
    names_but("", longest)
}

/// The same but for some words.
const fn names_but(words: &'static str, longest: usize) -> Option<NameRule> {
    Some(NameRule {
        longest,
        signs: "-.",
        words,
    })
}

const fn form(name: &'static str, description: &'static str, list: ListTemplate) -> WriteEntry {
    WriteEntry {
        name,
        aliases: &[],
        description,
        method: WriteMethod::List(list),
    }
}

pub(super) static PLAIN: WriteEntry =
    form("plain", "prefixes alone, one a line", ListTemplate::PLAIN);

pub(super) static CISCO_PREFIX_LIST: WriteEntry = form(
    "cisco-prefix-list",
    "prefix lists of Cisco IOS; existing lists of these names are replaced",
    ListTemplate {
        open: ["no ip prefix-list {name}\n", "no ipv6 prefix-list {name}\n"],
        ..PREFIX_LISTS
    },
);

pub(super) static FRR: WriteEntry = form("frr", "prefix lists of FRR", PREFIX_LISTS);

/// What Cisco IOS and FRR have in common. Both families may have a list of one name.
const PREFIX_LISTS: ListTemplate = ListTemplate {
    is_apart: true,
    each: [
        "ip prefix-list {name} permit {prefix}{bounds}\n",
        "ipv6 prefix-list {name} permit {prefix}{bounds}\n",
    ],
    name: names_to(63),
    // `ge` and `le` only as far as they say more than the prefix: IOS refuses a `ge` that is not above its length.
    bounds: Some(|out, len, low, high, width| {
        if low > len {
            push(out, format_args!(" ge {low}"));
        }
        if high > len && (high < width || low == len) {
            push(out, format_args!(" le {high}"));
        }
    }),
    ..ListTemplate::PLAIN
};

// Standard lists, which match the source by a wildcard, are of IPv4 only; for IPv6 it is an ordinary list to all
// destinations. The two kinds share their names, so that one needs a suffix.
pub(super) static CISCO_ACL: WriteEntry = form(
    "cisco-acl",
    "access lists of Cisco IOS, by source; the IPv6 list has the suffix _v6",
    ListTemplate {
        is_apart: true,
        open: [
            "no ip access-list standard {name}\nip access-list standard {name}\n",
            "no ipv6 access-list {name}_v6\nipv6 access-list {name}_v6\n",
        ],
        each: [
            " permit {address} {wildcard}\n",
            " permit ipv6 {prefix} any\n",
        ],
        name: names_to(63),
        ..ListTemplate::PLAIN
    },
);

// A prefix list of Junos holds both families. `load replace` makes `replace:` take the place of the list that is there.
pub(super) static JUNOS_PREFIX_LIST: WriteEntry = form(
    "junos-prefix-list",
    "a prefix list of Junos; an existing list of this name is replaced",
    ListTemplate {
        open: [
            "policy-options {{\nreplace:\n    prefix-list {name} {{\n",
            "",
        ],
        each: ["        {prefix};\n"; 2],
        close: ["    }}\n}}\n", ""],
        name: names_to(63),
        ..ListTemplate::PLAIN
    },
);

pub(super) static JUNOS_ROUTE_FILTER: WriteEntry = form(
    "junos-route-filter",
    "route filter lists of Junos; the IPv6 list has the suffix _v6",
    ListTemplate {
        is_apart: true,
        open: [
            "policy-options {{\nreplace:\n    route-filter-list {name} {{\n",
            "policy-options {{\nreplace:\n    route-filter-list {name}_v6 {{\n",
        ],
        each: ["        {prefix}{bounds};\n"; 2],
        close: ["    }}\n}}\n"; 2],
        name: names_to(63),
        // Every filter needs a word for its lengths, also if it is for one only.
        bounds: Some(|out, len, low, high, width| {
            let is_whole = low == len;
            if is_whole && high == len {
                out.extend_from_slice(b" exact");
            } else if is_whole && high == width {
                out.extend_from_slice(b" orlonger");
            } else if is_whole {
                push(out, format_args!(" upto /{high}"));
            } else {
                push(out, format_args!(" prefix-length-range /{low}-/{high}"));
            }
        }),
        ..ListTemplate::PLAIN
    },
);

// A set of BIRD is of one family; its names have no signs but `_`. The words are those that 2.0.12 refuses.
pub(super) static BIRD: WriteEntry = form(
    "bird",
    "prefix sets of BIRD; the IPv6 set has the suffix _v6",
    ListTemplate {
        is_apart: true,
        open: ["define {name} = [\n", "define {name}_v6 = [\n"],
        each: ["    {prefix}{bounds}{,}\n"; 2],
        close: ["];\n"; 2],
        name: Some(NameRule {
            longest: 63,
            signs: "",
            words: include_str!("bird_words.txt"),
        }),
        bounds: Some(|out, len, low, high, _| {
            if (low, high) != (len, len) {
                push(out, format_args!("{{{low},{high}}}"));
            }
        }),
        ..ListTemplate::PLAIN
    },
);

pub(super) static OPENBGPD: WriteEntry = form(
    "openbgpd",
    "a prefix set of OpenBGPD",
    ListTemplate {
        open: ["prefix-set \"{name}\" {{\n", ""],
        each: ["\t{prefix}{bounds}\n"; 2],
        close: ["}}\n", ""],
        name: names_to(63),
        bounds: Some(|out, len, low, high, _| {
            if (low, high) == (len, len) {
                return;
            }
            if low == high {
                push(out, format_args!(" prefixlen = {low}"));
            } else {
                push(out, format_args!(" prefixlen {low} - {high}"));
            }
        }),
        ..ListTemplate::PLAIN
    },
);

// A set has one type, so one of a family. Prefixes are intervals; without `auto-merge`, one in another would be refused.
pub(super) static NFTABLES: WriteEntry = form(
    "nftables",
    "sets of nftables in the table inet popfib; the IPv6 set has the suffix _v6",
    ListTemplate {
        is_apart: true,
        start: "table inet popfib {{\n",
        open: [
            "\tset {name} {{\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\tauto-merge\n\t\telements = {{\n",
            "\tset {name}_v6 {{\n\t\ttype ipv6_addr\n\t\tflags interval\n\t\tauto-merge\n\t\telements = {{\n",
        ],
        each: ["\t\t\t{prefix}{,}\n"; 2],
        close: ["\t\t}}\n\t}}\n"; 2],
        end: "}}\n",
        name: names_but(NFT_WORDS, 31),
        ..ListTemplate::PLAIN
    },
);

/// Of nft 1.0.6, as it refuses them.
const NFT_WORDS: &str = include_str!("nft_words.txt");

// `hash:net` knows no prefix of length 0, and no more elements than `maxelem`.
pub(super) static IPSET: WriteEntry = form(
    "ipset",
    "input for `ipset restore`; the IPv6 set has the suffix _v6",
    ListTemplate {
        open: [
            "create {name} hash:net family inet maxelem {size}\n",
            "create {name}_v6 hash:net family inet6 maxelem {size}\n",
        ],
        changes: Some(ListChanges {
            actions: ["del", "add"],
            list: &IPSET_CHANGES,
        }),
        each: ["add {name} {prefix}\n", "add {name}_v6 {prefix}\n"],
        ..IPSET_CHANGES
    },
);

const IPSET_CHANGES: ListTemplate = ListTemplate {
    is_apart: true,
    each: [
        "{action} {name} {prefix}\n",
        "{action} {name}_v6 {prefix}\n",
    ],
    name: names_to(31),
    takes_default: false,
    ..ListTemplate::PLAIN
};

// With `-4` and `-6` one file is for both commands: each passes over the rules of the other.
pub(super) static IPTABLES: WriteEntry = form(
    "iptables",
    "input for `iptables-restore` and `ip6tables-restore`: a chain that drops these prefixes",
    ListTemplate {
        start: "",
        open: ["*filter\n:{name} - [0:0]\n", ""],
        end: "",
        each: [
            "-A {name} -4 -s {prefix} -j DROP\n",
            "-A {name} -6 -s {prefix} -j DROP\n",
        ],
        close: ["COMMIT\n", ""],
        changes: Some(ListChanges {
            actions: ["D", "A"],
            list: &IPTABLES_CHANGES,
        }),
        ..IPTABLES_CHANGES
    },
);

const IPTABLES_CHANGES: ListTemplate = ListTemplate {
    start: "*filter\n",
    each: [
        "-{action} {name} -4 -s {prefix} -j DROP\n",
        "-{action} {name} -6 -s {prefix} -j DROP\n",
    ],
    end: "COMMIT\n",
    name: names_but("ACCEPT DROP QUEUE RETURN", 28),
    ..ListTemplate::PLAIN
};

pub(super) static PF: WriteEntry = form(
    "pf",
    "a table of pf",
    ListTemplate {
        open: ["table <{name}> persist {{\n", ""],
        each: ["    {prefix}{,}\n"; 2],
        close: ["}}\n", ""],
        name: names_to(31),
        ..ListTemplate::PLAIN
    },
);
