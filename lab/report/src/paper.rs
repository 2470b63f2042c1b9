//! The paper's figures, to stand beside those of a run (Asai and Ohara, SIGCOMM
//! 2015; Intel Core i7-4770K at 3.9 GHz with 8 MiB of L3 cache; REAL-Tier1-A:
//! 531,489 routes, 13 next hops).

/// The paper's machine, for headings.
pub(crate) const MACHINE: &str = "Core i7-4770K, 3.9 GHz, 8 MiB L3";

/// Its caches.
pub(crate) const CACHES: &str = "32 KiB, 256 KiB, 8 MiB";

/// Routes of REAL-Tier1-A.
pub(crate) const ROUTES: usize = 531_489;

/// Routes of the IPv6 table of the same router.
pub(crate) const ROUTES_IPV6: usize = 20_440;

/// Routes of SYN1-Tier1-A and SYN2-Tier1-A.
pub(crate) const SYN_ROUTES: [usize; 2] = [764_847, 885_645];

/// Table 2: name, s, inodes, leaves, MiB, compilation in ms, Mlps.
pub(crate) type FormRow = (
    &'static str,
    Option<u8>,
    Option<(u32, u32)>,
    f64,
    Option<f64>,
    f64,
);

/// Table 2, for REAL-Tier1-A.
#[rustfmt::skip]
pub(crate) const FORMS: [FormRow; 10] = [
    ("Radix", None, None, 30.48, None, 8.82),
    ("Poptrie (basic)", Some(0), Some((64_009, 4_032_568)), 8.67, Some(31.07), 87.71),
    ("Poptrie (basic)", Some(16), Some((172_101, 10_862_901)), 23.60, Some(64.18), 130.72),
    ("Poptrie (basic)", Some(18), Some((61_282, 3_911_422)), 9.40, Some(36.06), 170.69),
    ("Poptrie (leafvec)", Some(0), Some((64_009, 280_673)), 2.00, Some(32.60), 89.15),
    ("Poptrie (leafvec)", Some(16), Some((172_101, 347_449)), 4.85, Some(62.97), 154.33),
    ("Poptrie (leafvec)", Some(18), Some((61_282, 265_320)), 2.91, Some(33.37), 191.95),
    ("Poptrie", Some(0), Some((43_191, 263_381)), 1.49, Some(32.84), 96.27),
    ("Poptrie", Some(16), Some((86_171, 274_145)), 2.75, Some(65.91), 198.28),
    ("Poptrie", Some(18), Some((40_760, 245_034)), 2.40, Some(33.24), 240.52),
];

/// Table 6, for the IPv6 table of the same router, 20,440 routes; MiB.
#[rustfmt::skip]
pub(crate) const FORMS_IPV6: [FormRow; 3] = [
    ("Poptrie", Some(0), Some((14_925, 32_586)), 0.404, Some(7.22), 138.51),
    ("Poptrie", Some(16), Some((16_554, 33_047)), 0.692, Some(4.77), 209.84),
    ("Poptrie", Some(18), Some((14_910, 32_569)), 1.403, Some(4.73), 211.32),
];

/// Table 3: algorithm, MiB and Mlps on REAL-Tier1-A, then on REAL-Tier1-B.
pub(crate) const ALGORITHMS: [(&str, f64, f64, f64, f64); 9] = [
    ("Radix", 30.48, 8.82, 29.34, 8.92),
    ("Tree BitMap", 2.62, 56.24, 2.54, 62.13),
    ("Tree BitMap (64-ary)", 3.10, 61.61, 2.89, 68.82),
    ("SAIL", 44.24, 158.22, 42.62, 159.39),
    ("D16R", 1.16, 116.63, 0.93, 114.30),
    ("D18R", 1.91, 179.92, 1.71, 168.80),
    ("Poptrie0", 1.49, 96.27, 1.32, 92.99),
    ("Poptrie16", 2.75, 198.28, 1.87, 191.83),
    ("Poptrie18", 2.40, 240.52, 2.25, 218.97),
];

/// Section 4.10: random addresses of IPv6, Mlps.
pub(crate) const ALGORITHMS_IPV6: [(&str, f64); 5] = [
    ("D16R", 163.07),
    ("D18R", 169.91),
    ("Poptrie0", 138.51),
    ("Poptrie16", 209.84),
    ("Poptrie18", 211.32),
];

/// Section 4.5, REAL-Tier1-B: algorithm, sequential, repeated, Mlps.
pub(crate) const LOCALITY: [(&str, f64, f64); 5] = [
    ("SAIL", 1264.0, 492.0),
    ("D16R", 628.0, 382.0),
    ("D18R", 911.0, 454.0),
    ("Poptrie16", 955.0, 470.0),
    ("Poptrie18", 1122.0, 480.0),
];

/// Table 4, REAL-Tier1-A: mean, then 50, 75, 95, 99 %, in cycles.
pub(crate) const CYCLES: [(&str, f64, [u32; 4]); 5] = [
    ("SAIL", 57.43, [22, 76, 279, 299]),
    ("D16R", 60.92, [44, 49, 189, 255]),
    ("D18R", 54.84, [46, 48, 154, 207]),
    ("Poptrie16", 54.58, [43, 48, 150, 192]),
    ("Poptrie18", 53.59, [46, 48, 150, 169]),
];

/// Table 5: algorithm, SYN1-Tier1-A (764,847 routes), SYN2-Tier1-A (885,645), Mlps; `None` where it
/// could not be built.
pub(crate) const SYN: [(&str, Option<f64>, Option<f64>); 3] = [
    ("SAIL", Some(102.86), None),
    ("D18R (modified)", Some(115.45), Some(102.59)),
    ("Poptrie18", Some(188.02), Some(174.42)),
];

/// Section 4.7: Poptrie18 on real traffic is so many times as fast.
pub(crate) const TRACE_RATIOS: [(&str, f64); 3] =
    [("Tree BitMap", 3.02), ("D18R", 1.61), ("SAIL", 1.22)];

/// Section 4.5, all 35 tables: Poptrie18 over each, lowest and highest.
pub(crate) const RATIO_RANGES: [(&str, f64, f64); 4] = [
    ("Radix", 24.5, 46.1),
    ("Tree BitMap", 3.52, 6.78),
    ("SAIL", 1.37, 2.62),
    ("D18R", 1.04, 1.34),
];

/// Section 4.7: shares of addresses deeper than 18 and 24: of all IPv4, of the trace.
pub(crate) const DEEPER: [(f64, f64); 2] = [(0.221, 0.0166), (0.325, 0.218)];

/// Section 4.2: making a random address, in nanoseconds.
pub(crate) const XORSHIFT_NS: f64 = 1.22;

/// Section 4.9, an hour of updates of one peer: updates, microseconds each.
pub(crate) const UPDATES: (u32, f64) = (23_446, 2.51);

/// Section 4.9: inserting REAL-Tier1-A in random order: microseconds a route.
pub(crate) const INSERTION_US: f64 = 5.10;

/// Section 6: four threads on four cores, one thread; Mlps.
pub(crate) const THREADS: (f64, f64) = (914.0, 240.52);

/// Table 3 and section 4.10: MiB and Mlps of a structure.
pub(crate) fn structure(name: &str, is_ipv4: bool) -> (Option<f64>, Option<f64>) {
    if is_ipv4 {
        let row = ALGORITHMS.iter().find(|row| row.0 == name);
        return (row.map(|row| row.1), row.map(|row| row.2));
    }
    let bits = name
        .strip_prefix("Poptrie")
        .and_then(|bits| bits.parse().ok());
    let form = FORMS_IPV6
        .iter()
        .find(|form| bits.is_some() && form.1 == bits);
    let row = ALGORITHMS_IPV6.iter().find(|row| row.0 == name);
    (form.map(|form| form.3), row.map(|row| row.1))
}

/// Table 5: the rate of a structure on SYN1 or SYN2; a reason in place of what could not be built.
pub(crate) fn syn(structure: &str, syn: &str) -> Option<Result<f64, &'static str>> {
    let row = SYN.iter().find(|row| row.0 == structure)?;
    let rate = if syn == "SYN1" { row.1 } else { row.2 };
    Some(rate.ok_or("cannot build"))
}
