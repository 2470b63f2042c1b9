"""The built-in table of special-purpose addresses beside Python's ipaddress, at every boundary of every entry.

ipaddress knows the same registries as lists of its own, in some versions as they were years ago. Where the two differ, the entry is
listed here with what the registry says.
"""

import ipaddress

import popfib
import pytest

NAMES = {ipaddress.ip_network(prefix): name for prefix, name in popfib.special_table().items()}

# What every version of ipaddress says otherwise of `is_global`, and why.
NO_FLAG = "in no special-purpose registry, and so without the flag"
GLOBAL = {
    "224.0.0.0/4": NO_FLAG,
    "ff00::/8": NO_FLAG,
    "fec0::/10": NO_FLAG,
    "192.88.99.0/24": "terminated 2015-03, with empty flags",
    "2001:10::/28": "terminated 2014-03, with empty flags",
    "2001::/32": "TEREDO: Globally Reachable is N/A, see RFC 4380",
    "2002::/16": "6to4: Globally Reachable is N/A, see RFC 3056",
    "192.88.99.2/32": "6a44-relay anycast address: Globally Reachable is False",
}
# What only some versions do, which know an older registry.
GLOBAL_OF_SOME = {
    "192.0.0.0/24": "IETF Protocol Assignments: Globally Reachable is False",
    "192.0.0.8/32": "IPv4 dummy address: Globally Reachable is False",
    "192.0.0.9/32": "Port Control Protocol Anycast: Globally Reachable is True",
    "192.0.0.10/32": "TURN Anycast: Globally Reachable is True",
    "64:ff9b:1::/48": "IPv4-IPv6 Translat.: Globally Reachable is False",
    "100:0:0:1::/64": "Dummy IPv6 Prefix, of 2025-04: Globally Reachable is False",
    "2001:1::1/128": "Port Control Protocol Anycast: Globally Reachable is True",
    "2001:1::2/128": "TURN Anycast: Globally Reachable is True",
    "2001:1::3/128": "DNS-SD SRP Anycast, of 2024-04: Globally Reachable is True",
    "2001:3::/32": "AMT: Globally Reachable is True",
    "2001:4:112::/48": "AS112-v6: Globally Reachable is True",
    "2001:20::/28": "ORCHIDv2: Globally Reachable is True",
    "2001:30::/28": "DETs, of 2022-12: Globally Reachable is True",
    "3fff::/20": "Documentation, of 2024-07: Globally Reachable is False",
    "5f00::/16": "SRv6 SIDs, of 2024-04: Globally Reachable is False",
}
# Space that is reserved as a whole is in no special-purpose registry either.
RESERVED = "Reserved by IETF"


def boundaries():
    """The first and last address of each entry, and their neighbours outside."""
    found = set()
    for network in NAMES:
        kind = type(network.network_address)
        first, last = int(network.network_address), int(network.broadcast_address)
        top = 2**network.max_prefixlen - 1
        found |= {kind(at) for at in (first - 1, first, last, last + 1) if 0 <= at <= top}
    return sorted(found, key=lambda address: (address.version, address))


def covering(address):
    """The entries that contain an address, the longest first."""
    found = [network for network in NAMES if network.version == address.version and address in network]
    return sorted(found, key=lambda network: -network.prefixlen)


@pytest.mark.parametrize("address", boundaries(), ids=str)
def test_kinds(address):
    name = popfib.special_table().get(address, "")
    assert name == (NAMES[covering(address)[0]] if covering(address) else "")
    assert address.is_multicast == (name == "Multicast")
    assert address.is_loopback == name.startswith("Loopback")
    assert address.is_link_local == name.startswith("Link")
    assert address.is_unspecified == (name in ("Unspecified Address", "This host on this network"))
    if address.version == 4:
        assert address.is_reserved == (name in ("Reserved", "Limited Broadcast"))
    else:
        # Of ipaddress, multicast and unique local addresses are not reserved; the whole of fe00::/9 is.
        names = [NAMES[network] for network in covering(address)]
        assert address.is_reserved == (RESERVED in names)
        assert address.is_site_local == (name.startswith(RESERVED + " ("))


def test_global():
    """`global` is what `is_global` says, except where it is listed."""
    flags = popfib.special_table(columns="global")
    of_entry = {ipaddress.ip_network(prefix): flag for prefix, flag in flags.items()}
    differ = {}
    for address in boundaries():
        entry = next(iter(covering(address)), None)
        if entry is None:
            assert address.is_global, address
            continue
        flag = of_entry.get(entry)
        assert flag in ("true", "false", None)
        if NAMES[entry] == RESERVED:
            assert flag is None
        elif flag is None or address.is_global != (flag == "true"):
            differ.setdefault(str(entry), set()).add(str(address))
    assert differ.keys() - GLOBAL_OF_SOME.keys() == GLOBAL.keys(), differ
    # A private address is one whose flag is false, but for shared address space, of which ipaddress says neither.
    for prefix in ("10.0.0.0/8", "192.168.0.0/16", "fc00::/7", "2001:db8::/32"):
        network = ipaddress.ip_network(prefix)
        assert network.is_private and of_entry[network] == "false"
    shared = ipaddress.ip_network("100.64.0.0/10")
    assert of_entry[shared] == "false" and not shared.is_private and not shared.is_global


def test_columns():
    for column in ("source", "destination", "forwardable", "global", "reserved_by_protocol"):
        # What does not apply to a prefix is absent.
        values = set(popfib.special_table(columns=column).values()) - {None}
        assert values == {"true", "false"}, column
    assert popfib.special_table(columns="rfc")["192.0.0.170"] == "RFC 8880, RFC 7050"
    assert len(popfib.special_table(decode=str.upper)) == 69
    with pytest.raises(ValueError, match='no column "flag" in "name", "source", "destination"'):
        popfib.special_table(columns="flag")
