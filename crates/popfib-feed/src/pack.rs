//! Converts BGP attributes from text to the form of [`Target::path`].

use std::net::IpAddr;

use crate::target::Target;

/// The attributes of a path in a text.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) next_hop: Option<IpAddr>,
    /// 0 IGP, 1 EGP, 2 incomplete.
    pub(crate) origin: Option<u8>,
    pub(crate) as_path: Vec<Segment>,
    pub(crate) med: Option<u32>,
    pub(crate) local_preference: Option<u32>,
    pub(crate) communities: Vec<[u16; 2]>,
}

/// A part of an AS path.
#[derive(Debug)]
pub(crate) enum Segment {
    Sequence(Vec<u32>),
    Set(Vec<u32>),
}

impl Attributes {
    /// Converts to bytes. `None` without a next hop, and if the attributes are longer than BGP allows.
    pub(crate) fn pack(&self, to: &mut Vec<u8>) -> Option<()> {
        to.clear();
        to.push(4); // bytes of an AS number
        match self.next_hop? {
            IpAddr::V4(address) => add(to, 3, &address.octets())?,
            IpAddr::V6(address) => add(to, 3, &address.octets())?,
        }
        if let Some(origin) = self.origin {
            add(to, 1, &[origin])?;
        }
        let mut path = Vec::new();
        for segment in &self.as_path {
            let (kind, numbers) = match segment {
                Segment::Set(numbers) => (1, numbers),
                Segment::Sequence(numbers) => (2, numbers),
            };
            for numbers in numbers.chunks(255) {
                path.extend([kind, numbers.len() as u8]);
                path.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
            }
        }
        add(to, 2, &path)?;
        if let Some(med) = self.med {
            add(to, 4, &med.to_be_bytes())?;
        }
        if let Some(preference) = self.local_preference {
            add(to, 5, &preference.to_be_bytes())?;
        }
        if !self.communities.is_empty() {
            let numbers = self.communities.as_flattened().iter();
            let bytes: Vec<u8> = numbers.flat_map(|number| number.to_be_bytes()).collect();
            add(to, 8, &bytes)?;
        }
        Some(())
    }

    /// Converts to a target, and returns its length; `None` in the cases of [`Attributes::pack`].
    pub(crate) fn target(&self) -> Option<(Target, usize)> {
        let mut bytes = Vec::new();
        self.pack(&mut bytes)?;
        Some((Target::path(&bytes).ok()?, bytes.len()))
    }
}

fn add(to: &mut Vec<u8>, kind: u8, value: &[u8]) -> Option<()> {
    const EXTENDED_LENGTH: u8 = 0x10;
    let [high, low] = u16::try_from(value.len()).ok()?.to_be_bytes();
    to.extend([EXTENDED_LENGTH, kind, high, low]);
    to.extend(value);
    Some(())
}
