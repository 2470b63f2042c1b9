//! What BPF programs get for a value: the number that a file gives it.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The numbers of values.
pub type ValueIds = HashMap<String, u32>;

/// The numbers of values in a file: VALUE NUMBER on each line. Errors are one line that names the file and the line.
pub fn read_value_ids(path: &Path) -> Result<ValueIds, String> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let mut ids = ValueIds::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = line.rsplit_once([' ', '\t']);
        let pair = pair.and_then(|(value, id)| Some((value.trim_end(), id.parse().ok()?)));
        let Some((value, id)) = pair else {
            return Err(format!(
                "{name}:{number}: no VALUE NUMBER, such as `192.0.2.1 7`"
            ));
        };
        ids.insert(value.to_owned(), id);
    }
    Ok(ids)
}
