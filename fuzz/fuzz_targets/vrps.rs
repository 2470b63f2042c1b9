//! Any bytes as VRPs: JSON or CSV, as their first byte says.
//!
//! No panic, an end, an error of one line; each VRP that is read makes a route of its own prefix and AS
//! valid, and what is read strictly is read with `skip_invalid` as well.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use popfib::Address;
use popfib::family::ByFamily;
use popfib_formats::{Input, LoadOptions, Loaded, ReadError};
use popfib_table::rpki::{FamilyVrps, Validity, Vrps};

fn load(data: &[u8], skip_invalid: bool) -> Result<Loaded<ByFamily<FamilyVrps>>, ReadError> {
    let input = Input::from_reader("fuzz", Cursor::new(data.to_vec())).max_size(1 << 20);
    let options = LoadOptions {
        skip_invalid,
        ..LoadOptions::default()
    };
    popfib_formats::load(input, &options)
}

fn check<A: Address>(vrps: &Vrps<A>) {
    for vrp in vrps.iter() {
        assert!(vrp.prefix().len() <= vrp.max_length() && vrp.max_length() <= A::WIDTH);
        let validity = vrps.validate(vrp.prefix(), Some(vrp.asn()));
        assert_eq!(validity == Validity::Valid, vrp.asn() != 0);
        assert!(vrps.covering(vrp.prefix()).any(|covering| covering == vrp));
    }
}

fuzz_target!(|data: &[u8]| {
    let skipping = load(data, true);
    match load(data, false) {
        Ok(table) => {
            check(&table.ipv4);
            check(&table.ipv6);
            let skipping = skipping.expect("nothing to skip");
            assert_eq!(skipping.skipped, 0);
            assert_eq!(skipping.ipv4.len(), table.ipv4.len());
            assert_eq!(skipping.ipv6.len(), table.ipv6.len());
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains(char::is_control), "{message:?}");
            if let Ok(table) = skipping {
                check(&table.ipv4);
                check(&table.ipv6);
            }
        }
    }
});
