//! A RIB and an address in, a picture of the lookup out, step by step: the bits of the address that each step reads, where it reads, and
//! what it finds.

use popfib::fold::Slot;
use popfib::{Address, CompileError, NextHop, Rib};

use crate::lookup_steps::{BlockSlots, LookupStep, StepReads, lookup_steps};
use crate::svg::{
    Anchor, Coordinate, LABEL, MARGIN, SOFT, Svg, TITLE, TITLE_SIZE, counted, fitted, grouped,
    width_of,
};

/// What a picture of a lookup shows.
#[derive(Clone, Copy)]
pub struct LookupPicture<'a, A> {
    /// The title.
    pub title: &'a str,
    /// A line below it that names the table.
    pub note: &'a str,
    /// The address that is looked up.
    pub address: A,
    /// The matching prefix and its value, as text; `None` if nothing matches.
    pub answer: Option<&'a str>,
    /// The name of a next hop.
    pub name: &'a dyn Fn(NextHop) -> String,
}

/// Width of the picture, in units of the SVG.
const SIDE: f64 = 900.0;

const LEFT: f64 = MARGIN;
const WIDTH: f64 = SIDE - 2.0 * LEFT;
const TOP: f64 = 84.0;
const CELL: f64 = WIDTH / 64.0;
const TABLE_HEIGHT: f64 = 114.0;
const BLOCK_HEIGHT: f64 = 156.0;
/// The attributes of cells, by turns, and of the frame around what is read.
const EVEN: &str = "class=\"pf-h1\"";
const ODD: &str = "class=\"pf-h3\"";
const MARK: &str = "class=\"pf-rule\" fill=\"none\" stroke-width=\"2\"";
/// The attributes of text in a cell.
const SMALL: &str = "class=\"pf-ink\" font-size=\"9.5\"";

/// Draws the lookup of an address in `rib` from top to bottom: the root table, a page of long keys, the
/// blocks, the answer.
///
/// O(routes * key width / 6) time, that of compiling.
///
/// # Errors
/// [`CompileError`], if the table cannot be compiled.
pub fn lookup_picture<A: Address>(
    rib: &Rib<A>,
    what: &LookupPicture<'_, A>,
) -> Result<String, CompileError> {
    let (steps, _) = lookup_steps(rib, what.address)?;
    let height = |step: &LookupStep| match step.place {
        StepReads::Block(_) => BLOCK_HEIGHT,
        _ => TABLE_HEIGHT,
    };
    let bottom = TOP + steps.iter().map(height).sum::<f64>();
    let mut svg = Svg::new(SIDE, bottom + 44.0, what.title, what.note);

    let mut top = TOP;
    // Where the arrow from the step before begins.
    let mut from = None;
    for (number, step) in steps.iter().enumerate() {
        heading(&mut svg, top, step, number, what.address);
        let to = match &step.place {
            StepReads::Block(slots) => block(&mut svg, top, step.index, slots, from, what.name),
            _ => table(&mut svg, top, step, from),
        };
        top += height(step);
        from = Some(to);
    }
    let (x, y) = from.expect("the root table is always read");
    arrow(&mut svg, (x, y), y + 12.0, (x, bottom - 2.0));
    let answer = fitted(what.answer.unwrap_or("no route matches"), TITLE_SIZE, WIDTH);
    // Below the arrow, as far as the picture has room to the right.
    let start = (x - 12.0)
        .min(SIDE - LEFT - width_of(&answer, TITLE_SIZE))
        .max(LEFT);
    svg.label((start, bottom + 18.0), Anchor::Start, TITLE, &answer);
    Ok(svg.finish())
}

/// The line above a step: what it reads, and with which bits.
fn heading<A: Address>(svg: &mut Svg, top: f64, step: &LookupStep, number: usize, address: A) {
    let size = match step.bits {
        0 => "1 entry".to_owned(),
        bits => format!("{} entries", grouped(1 << bits)),
    };
    let what = match &step.place {
        StepReads::Root => format!("Root table: {size}"),
        StepReads::Page => format!("Page: {size} below that of the root table"),
        StepReads::Block(slots) => {
            let values = if slots.iter().any(|slot| matches!(slot, Slot::Node(_))) {
                "pointers and next hops"
            } else {
                "next hops"
            };
            let runs = counted(firsts(slots).len() as u64, "run");
            format!("Block: 64 slots in {runs}; the values are {values}")
        }
    };
    let text = format!("{}. {what}", number + 1);
    // Beside the arrow that comes down at the left end.
    svg.label((LEFT + 16.0, top), Anchor::Start, LABEL, &text);
    let name = match step.place {
        StepReads::Block(_) => "slot",
        _ => "entry",
    };
    let read = if step.bits == 0 {
        "no bits: the only entry".to_owned()
    } else {
        format!(
            "bits {} to {} of the address: {:0width$b}, {name} {}",
            step.offset,
            step.offset + step.bits - 1,
            address.skip_bits(step.offset).leading(step.bits),
            grouped(step.index.into()),
            width = usize::from(step.bits),
        )
    };
    svg.label((SIDE - LEFT, top), Anchor::End, SOFT, &read);
}

/// Draws the root table or a page, with the entry that is read. Returns where the entry's arrow begins.
fn table(svg: &mut Svg, top: f64, step: &LookupStep, from: Option<(f64, f64)>) -> (f64, f64) {
    let (y, height) = (top + 26.0, 30.0);
    arrow_into(svg, from, y);
    svg.rect(EVEN, (LEFT, y), (WIDTH, height));
    let entries = f64::from(1u32 << step.bits);
    let x = LEFT + (f64::from(step.index) + 0.5) / entries * WIDTH;
    // One entry of many would not be seen.
    let width = (WIDTH / entries).max(6.0);
    svg.rect(MARK, (x - width / 2.0, y), (width, height));
    svg.label((LEFT, y + height + 14.0), Anchor::Start, SOFT, "0");
    let last = grouped((1 << step.bits) - 1);
    svg.label((SIDE - LEFT, y + height + 14.0), Anchor::End, SOFT, &last);
    (x, y + height)
}

/// The first slot of each run of equal slots. A child is a run of its own.
fn firsts(slots: &BlockSlots) -> Vec<usize> {
    let begins = |at: &usize| *at == 0 || slots[*at] != slots[*at - 1];
    (0..64).filter(begins).collect()
}

/// Draws a block: its slots, with a bit for each that begins a run, and below them the values. Returns where the arrow of the value that
/// is read begins.
fn block(
    svg: &mut Svg,
    top: f64,
    index: u32,
    slots: &BlockSlots,
    from: Option<(f64, f64)>,
    name: &dyn Fn(NextHop) -> String,
) -> (f64, f64) {
    let firsts = firsts(slots);
    let (y, height) = (top + 26.0, 26.0);
    arrow_into(svg, from, y);
    let mut run = 0;
    for slot in 0..64 {
        let begins = firsts.get(run).is_some_and(|first| *first == slot);
        run += usize::from(begins);
        let style = if run % 2 == 1 { EVEN } else { ODD };
        let x = LEFT + slot as f64 * CELL;
        svg.rect(style, (x, y), (CELL, height));
        let bit = if begins { "1" } else { "0" };
        svg.label((x + CELL / 2.0, y + 17.0), Anchor::Middle, SMALL, bit);
    }
    let x = LEFT + f64::from(index) * CELL;
    svg.rect(MARK, (x, y), (CELL, height));

    let value = firsts
        .iter()
        .filter(|first| **first <= index as usize)
        .count()
        - 1;
    let values_y = y + height + 34.0;
    let cell = (WIDTH / firsts.len() as f64).min(132.0);
    for (at, first) in firsts.iter().enumerate() {
        let style = if at % 2 == 0 { EVEN } else { ODD };
        let x = LEFT + at as f64 * cell;
        svg.rect(style, (x, values_y), (cell, height));
        let text = match slots[*first] {
            Slot::Node(_) => "block".to_owned(),
            Slot::Leaf(next_hop) => NextHop::new(next_hop).map_or("none".to_owned(), name),
        };
        // A few letters of what has no room; in boxes of one or two letters it is left out.
        if cell > 44.0 || width_of(&text, 9.5) + 2.0 < cell {
            let place = (x + cell / 2.0, values_y + 17.0);
            let text = fitted(&text, 9.5, cell - 2.0);
            svg.label(place, Anchor::Middle, SMALL, &text);
        }
    }
    let value_x = LEFT + (value as f64 + 0.5) * cell;
    svg.rect(MARK, (value_x - cell / 2.0, values_y), (cell, height));
    let to = (value_x, values_y - 2.0);
    arrow(svg, (x + CELL / 2.0, y + height), y + height + 10.0, to);
    let count = format!(
        "{} set in slots 0 to {index}: value {}",
        counted(value as u64 + 1, "bit"),
        value + 1
    );
    // On the side where the arrow leaves more room.
    let is_left = x.min(value_x) > SIDE - x.max(value_x);
    let (at, anchor) = if is_left {
        (LEFT, Anchor::Start)
    } else {
        (SIDE - LEFT, Anchor::End)
    };
    svg.label((at, values_y - 11.0), anchor, SOFT, &count);
    (value_x, values_y + height)
}

/// The arrow from the step before to the left end of a table or block, where it begins.
fn arrow_into(svg: &mut Svg, from: Option<(f64, f64)>, y: f64) {
    if let Some(from) = from {
        // Above the heading.
        arrow(svg, from, y - 46.0, (LEFT + CELL / 2.0, y - 2.0));
    }
}

/// An arrow that leaves downwards, turns at a height and arrives downwards.
fn arrow(svg: &mut Svg, from: (f64, f64), turn: f64, to: (f64, f64)) {
    svg.element(format_args!(
        "path class=\"pf-rule\" fill=\"none\" stroke-width=\"1.3\" d=\"M{} {}V{m}H{}V{}m-3.5 -6l3.5 6l3.5 -6\"",
        Coordinate(from.0),
        Coordinate(from.1),
        Coordinate(to.0),
        Coordinate(to.1),
        m = Coordinate(turn)
    ));
}
