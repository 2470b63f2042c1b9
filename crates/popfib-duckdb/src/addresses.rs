//! A column of any type that holds addresses in; the addresses of its rows by family out, as lookups take them.

use std::convert::Infallible;
use std::net::IpAddr;

use popfib_formats::addresses::parse_address;
use popfib_table::{AddressColumn, packed_ip};

use crate::api::TypeId;
use crate::seen::SeenColumn;
use crate::vector::InputVector;

/// The addresses of a column's rows.
#[derive(Default)]
pub(crate) struct ColumnAddresses {
    pub(crate) column: AddressColumn,
    /// The first row that is neither null nor an address.
    pub(crate) invalid: Option<usize>,
    /// The column that these are from.
    seen: SeenColumn,
}

impl ColumnAddresses {
    /// Reads the rows of a column; false if they are the same as last time, and nothing changes.
    ///
    /// # Errors
    /// A column of a type that holds no addresses.
    pub(crate) fn read(&mut self, column: &InputVector<'_>) -> Result<bool, String> {
        let id = column.type_id();
        // SAFETY: `id` is the type of `column`.
        if unsafe { self.seen.is(id, column) } {
            return Ok(false);
        }
        self.seen.forget();
        self.column.clear();
        self.invalid = None;
        // SAFETY: each function takes the rows for what a column of type `id` has.
        unsafe {
            match id {
                TypeId::UINTEGER => self.read_ipv4(column),
                TypeId::INTEGER => self.numbers(column, |n: i32| u32::try_from(n).ok()),
                TypeId::BIGINT => self.numbers(column, |n: i64| u32::try_from(n).ok()),
                TypeId::UBIGINT => self.numbers(column, |n: u64| u32::try_from(n).ok()),
                TypeId::UHUGEINT => self.halves(column, Some),
                TypeId::HUGEINT => self.halves(column, |n| (n >> 127 == 0).then_some(n)),
                TypeId::VARCHAR => self.each(column, |row| match column.dotted(row) {
                    Some(address) => Some(IpAddr::V4(address.into())),
                    None => parse_address(column.bytes(row)),
                }),
                TypeId::BLOB => self.each(column, |row| packed_ip(column.bytes(row))),
                TypeId::STRUCT if is_inet(column) => self.read_inet(column),
                // Nothing but nulls.
                TypeId::NULL => {}
                _ => return Err(wrong_type(id)),
            }
            self.seen.keep(id, column);
        }
        Ok(true)
    }

    /// Becomes the part of `all` whose rows are chosen.
    pub(crate) fn choose(&mut self, all: &Self, is_chosen: impl Fn(u32) -> bool) {
        self.column.choose(&all.column, is_chosen);
    }

    /// # Safety
    /// `column` is of type UINTEGER.
    unsafe fn read_ipv4(&mut self, column: &InputVector<'_>) {
        // SAFETY: the rows of an UINTEGER are `u32`.
        let rows = unsafe { column.rows::<u32>() };
        match column.has_nulls() {
            true => self.each(column, |row| Some(IpAddr::V4(rows[row].into()))),
            false => self.column.extend_ipv4(rows.iter().copied()),
        }
    }

    /// # Safety
    /// `column` is of a type whose rows are `T`, a type of integers.
    unsafe fn numbers<T: Copy>(
        &mut self,
        column: &InputVector<'_>,
        ipv4: impl Fn(T) -> Option<u32>,
    ) {
        // SAFETY: they are, as the caller promises.
        let rows = unsafe { column.rows::<T>() };
        self.each(column, |row| Some(IpAddr::V4(ipv4(rows[row])?.into())));
    }

    /// # Safety
    /// `column` is of type HUGEINT or UHUGEINT.
    unsafe fn halves(&mut self, column: &InputVector<'_>, ipv6: impl Fn(u128) -> Option<u128>) {
        // SAFETY: rows of these types are two halves, the lower first.
        let rows = unsafe { column.rows::<[u64; 2]>() };
        self.each(column, |row| {
            Some(IpAddr::V6(ipv6(whole(rows[row]))?.into()))
        });
    }

    /// # Safety
    /// `column` has the fields of `is_inet`.
    unsafe fn read_inet(&mut self, column: &InputVector<'_>) {
        // SAFETY: its first two fields are UTINYINT and HUGEINT.
        let (families, halves) = unsafe {
            let [family, bits] = [column.field(0), column.field(1)];
            (family.rows::<u8>(), bits.rows::<[u64; 2]>())
        };
        self.each(column, |row| match families[row] {
            1 => Some(IpAddr::V4((halves[row][0] as u32).into())),
            // Stored so that they sort as signed numbers.
            2 => Some(IpAddr::V6((whole(halves[row]) ^ 1 << 127).into())),
            _ => None,
        });
    }

    #[inline(always)]
    fn each(&mut self, column: &InputVector<'_>, address: impl Fn(usize) -> Option<IpAddr>) {
        let invalid = &mut self.invalid;
        let Ok(()) = self.column.fill(column.len(), |row| {
            if column.is_null(row) {
                return Ok::<_, Infallible>(None);
            }
            let found = address(row);
            if found.is_none() {
                *invalid = invalid.or(Some(row));
            }
            Ok(found)
        });
    }
}

/// A number of 128 bits from its halves, the lower first.
fn whole([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Whether a column of structures is made as those of the type INET: a family (1 or 2), an address and a mask.
fn is_inet(column: &InputVector<'_>) -> bool {
    column.field_types() == [TypeId::UTINYINT, TypeId::HUGEINT, TypeId::USMALLINT]
}

fn wrong_type(id: TypeId) -> String {
    let what = match id {
        TypeId::STRUCT => "a structure other than INET".to_owned(),
        TypeId(id) => format!("a column of another type (number {id} of DuckDB's)"),
    };
    format!(
        "{what} holds no addresses: they are VARCHAR, UINTEGER (INTEGER, BIGINT, UBIGINT) for IPv4, \
         UHUGEINT (HUGEINT) for IPv6, BLOB of 4 or 16 bytes, or INET"
    )
}
