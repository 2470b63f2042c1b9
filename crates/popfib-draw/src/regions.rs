//! The part of the address space that is shown in, regions with a name out: prefixes, none of which has too large a share of it.

use popfib::{Address, Prefix};

/// A region, and where it begins and ends on the way from 0 to 1.
#[derive(Clone, Copy)]
pub(crate) struct Region<A> {
    pub(crate) prefix: Prefix<A>,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// Divides a prefix into halves until no region has more than the share `most`. Empty parts are left out. Each region is the longest prefix,
/// of up to `longest` bits, that has all of its share.
///
/// `before` is the share of what is shown that is before an address.
pub(crate) fn regions<A: Address>(
    whole: Prefix<A>,
    most: f64,
    longest: u8,
    before: &impl Fn(A) -> f64,
) -> Vec<Region<A>> {
    let mut regions = Vec::new();
    let whole = Region {
        prefix: whole,
        from: 0.0,
        to: 1.0,
    };
    divide(whole, most, longest, before, &mut regions);
    regions
}

fn divide<A: Address>(
    region: Region<A>,
    most: f64,
    longest: u8,
    before: &impl Fn(A) -> f64,
    regions: &mut Vec<Region<A>>,
) {
    let Region { prefix, from, to } = region;
    if to <= from {
        return;
    }
    let len = prefix.len() + 1;
    if len > longest {
        regions.push(region);
        return;
    }
    let second = prefix.address() | A::from_leading(1, 1) >> prefix.len();
    let middle = before(second);
    let half = |address, from, to| Region {
        prefix: Prefix::new_masked(address, len).expect("within the key"),
        from,
        to,
    };
    let (first, second) = (
        half(prefix.address(), from, middle),
        half(second, middle, to),
    );
    let is_one_empty = middle <= from || middle >= to;
    if to - from > most || is_one_empty {
        divide(first, most, longest, before, regions);
        divide(second, most, longest, before, regions);
    } else {
        regions.push(region);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(whole: &str, most: f64, longest: u8, starts: &[&str]) -> Vec<(String, f64)> {
        let mut starts: Vec<u128> = starts
            .iter()
            .map(|text| text.parse::<Prefix<u128>>().unwrap().first())
            .collect();
        starts.sort_unstable();
        let before =
            |address| starts.partition_point(|start| *start < address) as f64 / starts.len() as f64;
        let regions = regions(whole.parse().unwrap(), most, longest, &before);
        let ends = regions
            .iter()
            .map(|region| region.from)
            .skip(1)
            .chain([1.0]);
        assert!(ends.eq(regions.iter().map(|region| region.to)));
        let share = |region: &Region<u128>| (region.prefix.to_string(), region.to - region.from);
        regions.iter().map(share).collect()
    }

    #[test]
    fn parts_are_as_long_as_what_is_in_them() {
        let routes = ["2001:db8::/32", "2400::/32", "2400:1::/32", "2c0f::/32"];
        let expected = [
            ("2001:db8::/32".to_owned(), 0.25),
            ("2400::/31".to_owned(), 0.5),
            ("2c0f::/32".to_owned(), 0.25),
        ];
        assert_eq!(names("2000::/3", 0.5, 32, &routes), expected);
        assert_eq!(names("2000::/3", 0.3, 32, &routes).len(), 4);
        assert_eq!(
            names("2000::/3", 1.0, 32, &routes),
            [("2000::/4".to_owned(), 1.0)]
        );
        // Where they can't be divided.
        assert_eq!(
            names("2400::/32", 0.1, 32, &routes[1..2]),
            [("2400::/32".to_owned(), 1.0)]
        );
        assert_eq!(
            names("::1/128", 0.1, 128, &["::1/128"]),
            [("::1/128".to_owned(), 1.0)]
        );
    }

    #[test]
    fn space_is_divided_evenly() {
        let before = |address: u32| f64::from(address) / 2f64.powi(32);
        let whole = Prefix::new_masked(0, 0).unwrap();
        let all = regions(whole, 1.0 / 256.0, 32, &before);
        assert_eq!(all.len(), 256);
        for (i, region) in all.iter().enumerate() {
            assert_eq!(region.prefix.to_string(), format!("{i}.0.0.0/8"));
            assert_eq!(region.from, i as f64 / 256.0);
        }
    }
}
