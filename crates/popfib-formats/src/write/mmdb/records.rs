//! Records of any columns in, those of a MaxMind database out: maps and arrays made again of the columns' names.
//!
//! `subdivisions[0].iso_code` is a member of the first element of an array. What was written before is pointed at where a
//! pointer is shorter: the same value of a column, the same key, and the same map or array, recognised by the values of its
//! columns. So each different city, country or time zone is there once, as in the databases that MaxMind writes.

use hashbrown::HashMap;
use popfib::NextHop;
use popfib_table::{Cell, Column, Records};

use super::field::{ARRAY, MAP, head, pointer, scalar, text};
use super::schema::member;

/// How many elements an array may have, and how many maps and arrays may lie in each other.
const MAX_ELEMENTS: usize = 256;
const MAX_DEPTH: usize = 128;

/// The columns as a tree by the parts of their names: `country.iso_code` is `iso_code` below `country`.
#[derive(Default)]
struct ColumnNode {
    /// The column whose value stands here, if there is one.
    column: Option<usize>,
    /// The members of a map.
    members: Vec<(String, ColumnNode)>,
    /// The elements of an array by their indices, in order.
    elements: Vec<(usize, ColumnNode)>,
    /// The columns here and below, in their order, and the number of this node.
    columns: Vec<usize>,
    number: usize,
}

impl ColumnNode {
    /// The node that a name leads to from here, which is new if there is none. A name that would lead too deep is one key.
    fn at(&mut self, name: &str) -> &mut Self {
        let parts: Vec<_> = name.split('.').map(split).collect();
        let depth: usize = parts.iter().map(|(_, indices)| 1 + indices.len()).sum();
        if depth > MAX_DEPTH {
            return self.member(name);
        }
        parts.into_iter().fold(self, |node, (key, indices)| {
            indices.into_iter().fold(node.member(key), Self::element)
        })
    }

    fn element(&mut self, index: usize) -> &mut Self {
        let at = self
            .elements
            .binary_search_by_key(&index, |(index, _)| *index);
        let at = at.unwrap_or_else(|at| {
            self.elements.insert(at, (index, Self::default()));
            at
        });
        &mut self.elements[at].1
    }

    fn member(&mut self, key: &str) -> &mut Self {
        let known = self.members.iter().position(|(known, _)| known == key);
        let index = known.unwrap_or(self.members.len());
        if known.is_none() {
            self.members.push((key.to_owned(), Self::default()));
        }
        &mut self.members[index].1
    }

    /// Numbers the nodes and gives each its columns.
    fn finish(&mut self, count: &mut usize) {
        self.number = *count;
        *count += 1;
        self.columns.extend(self.column);
        let members = self.members.iter_mut().map(|(_, node)| node);
        let elements = self.elements.iter_mut().map(|(_, node)| node);
        for node in members.chain(elements) {
            node.finish(count);
            self.columns.extend(&node.columns);
        }
    }
}

/// A key and the indices of elements after it; all is key where something else is in brackets.
fn split(part: &str) -> (&str, Vec<usize>) {
    let (key, rest) = part.split_at(part.find('[').unwrap_or(part.len()));
    let mut indices = Vec::new();
    for index in rest.split_inclusive(']') {
        let index = index
            .strip_prefix('[')
            .and_then(|index| index.strip_suffix(']'));
        let number = index.and_then(|index| index.parse().ok());
        match number.filter(|&number| number < MAX_ELEMENTS) {
            Some(number) => indices.push(number),
            None => return (part, Vec::new()),
        }
    }
    (key, indices)
}

/// Writes records, and knows what was written.
///
/// Equal parts are found by their codes, the numbers that the dictionaries of columns have for values, and not by
/// their bytes: comparing these would mean to write everything first.
pub(super) struct MmdbRecordWriter<'r> {
    records: &'r Records,
    root: ColumnNode,
    /// The records so far.
    pub(super) bytes: Vec<u8>,
    /// The places of keys, and of nodes by their numbers and the codes of their columns.
    keys: HashMap<String, u32>,
    nodes: HashMap<(usize, Vec<u32>), u32>,
    /// The codes of the record at hand.
    codes: Vec<u32>,
}

impl<'r> MmdbRecordWriter<'r> {
    /// For these records, in a database of this type.
    ///
    /// # Errors
    /// Two columns that would be one member.
    pub(super) fn new(records: &'r Records, database: &str) -> Result<Self, String> {
        let mut root = ColumnNode::default();
        for (index, column) in records.columns().iter().enumerate() {
            let name = member(database, column.name()).unwrap_or(column.name());
            if root.at(name).column.replace(index).is_some() {
                return Err(format!("two columns lead to {name:?}"));
            }
        }
        root.finish(&mut 0);
        Ok(Self {
            records,
            root,
            bytes: Vec::new(),
            keys: HashMap::new(),
            nodes: HashMap::new(),
            codes: Vec::new(),
        })
    }

    /// Writes a record; its place.
    ///
    /// # Errors
    /// What no type holds, or a name that is both that of a value and of what it has members of.
    pub(super) fn record(&mut self, number: NextHop) -> Result<u32, String> {
        self.codes.clear();
        self.codes.extend(self.records.codes(number.get()));
        let place = self.place()?;
        let root = std::mem::take(&mut self.root);
        // Of records without columns none is written, so the root is a map.
        let key = (root.number, self.codes_of(&root));
        let known = self.nodes.get(&key).copied();
        let written = match known {
            Some(_) => Ok(()),
            None => {
                self.nodes.insert(key, place);
                self.node(&root)
            }
        };
        self.root = root;
        written.map(|()| known.unwrap_or(place))
    }

    /// Where the next field will stand.
    fn place(&self) -> Result<u32, String> {
        u32::try_from(self.bytes.len()).map_err(|_| "the records take more than 4 GiB".to_owned())
    }

    /// The codes of the columns of a node in the record at hand: equal ones are equal maps, arrays or values.
    fn codes_of(&self, node: &ColumnNode) -> Vec<u32> {
        node.columns
            .iter()
            .map(|&column| self.codes[column])
            .collect()
    }

    /// Whether the record at hand has any value there; code 0 is none.
    fn has(&self, node: &ColumnNode) -> bool {
        node.columns.iter().any(|&column| self.codes[column] > 0)
    }

    /// Writes a node, or a pointer to one that is equal if that is shorter.
    fn value(&mut self, node: &ColumnNode) -> Result<(), String> {
        let place = self.place()?;
        let key = (node.number, self.codes_of(node));
        if let Some(&known) = self.nodes.get(&key) {
            pointer(&mut self.bytes, known);
            return Ok(());
        }
        self.node(node)?;
        // A pointer of four bytes or fewer is longer than a small number.
        if self.bytes.len() - place as usize > 4 {
            self.nodes.insert(key, place);
        }
        Ok(())
    }

    /// Writes the value, map or array that a node is in the record at hand.
    fn node(&mut self, node: &ColumnNode) -> Result<(), String> {
        let members = node
            .members
            .iter()
            .filter(|(_, node)| self.has(node))
            .count();
        let mut present = node.elements.iter().filter(|(_, node)| self.has(node));
        let elements = present.next_back().map_or(0, |(last, _)| last + 1);
        let column = node.column.filter(|&column| self.codes[column] > 0);
        match (column, members, elements) {
            (Some(column), 0, 0) => self.cell(column),
            (None, _, 0) => {
                head(&mut self.bytes, MAP, members);
                for (key, node) in &node.members {
                    if self.has(node) {
                        self.key(key)?;
                        self.value(node)?;
                    }
                }
                Ok(())
            }
            (None, 0, _) => {
                head(&mut self.bytes, ARRAY, elements);
                let mut written = 0;
                for (index, node) in &node.elements {
                    if self.has(node) {
                        // One that is absent among others is a map without members.
                        (written..*index).for_each(|_| head(&mut self.bytes, MAP, 0));
                        self.value(node)?;
                        written = index + 1;
                    }
                }
                Ok(())
            }
            _ => Err("a column is a value and has members, too".to_owned()),
        }
    }

    /// Writes a key, or a pointer to where it stands already; a short key is as short as a pointer.
    fn key(&mut self, key: &str) -> Result<(), String> {
        let place = self.place()?;
        match self.keys.get(key) {
            Some(&known) => pointer(&mut self.bytes, known),
            None => {
                text(&mut self.bytes, key);
                if key.len() > 3 {
                    self.keys.insert(key.to_owned(), place);
                }
            }
        }
        Ok(())
    }

    fn cell(&mut self, index: usize) -> Result<(), String> {
        let column: &Column = &self.records.columns()[index];
        let of = column.maxmind_type();
        let written = match column.value(self.codes[index]) {
            Some(Cell::Scalar(value)) => scalar(&mut self.bytes, value, of),
            Some(Cell::List(list)) => {
                head(&mut self.bytes, ARRAY, list.len());
                let mut elements = list.iter();
                elements.try_for_each(|value| scalar(&mut self.bytes, value, of))
            }
            None => Ok(()),
        };
        written.map_err(|reason| format!("column {:?}: {reason}", column.name()))
    }
}
