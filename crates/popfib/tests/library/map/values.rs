//! Values whose drops are counted, and values that panic: nothing is dropped twice or lost, and
//! the map stays right.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use popfib::map::{Own, Shared, Stores};
use popfib::{Prefix, PrefixMap};

use crate::common::random::Random;
use crate::common::rounds::rounds;

/// What the values of a test do and have done.
#[derive(Default)]
struct Life {
    alive: Cell<isize>,
    /// Calls of the user's code until one panics.
    fuse: Cell<Option<usize>>,
}

impl Life {
    /// One call of the user's code.
    fn step(&self) {
        match self.fuse.get() {
            Some(0) => {
                self.fuse.set(None);
                panic!("as the test asked for");
            }
            Some(left) => self.fuse.set(Some(left - 1)),
            None => {}
        }
    }
}

struct Value {
    content: u32,
    life: Rc<Life>,
}

impl Value {
    fn new(content: u32, life: &Rc<Life>) -> Self {
        life.alive.set(life.alive.get() + 1);
        let life = life.clone();
        Self { content, life }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        self.life.step();
        Self::new(self.content, &self.life)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.life.step();
        self.content == other.content
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.life.step();
        self.content.hash(state);
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.life.alive.set(self.life.alive.get() - 1);
        if !std::thread::panicking() {
            self.life.step();
        }
    }
}

fn step<S: Stores<Value>>(
    random: &mut Random,
    map: &mut PrefixMap<u16, Value, S>,
    life: &Rc<Life>,
) {
    let prefix = random.prefix();
    let value = Value::new(random.below(6) as u32, life);
    match random.below(9) {
        0..3 => drop(map.insert(prefix, value)),
        3 => drop(map.remove(prefix)),
        4 => {
            if let Some(mut found) = map.get_mut(prefix) {
                life.step();
                found.content += 1;
            }
        }
        5 => map.retain(|prefix, _| {
            life.step();
            prefix.len() % 7 != 3
        }),
        6 => map.for_each_mut(|prefix, value| {
            life.step();
            if prefix.len() % 3 == 0 {
                value.content ^= 1;
            }
        }),
        7 => {
            let more: Vec<_> = (0..20)
                .map(|n| (random.prefix(), Value::new(n % 6, life)))
                .collect();
            map.extend(more.into_iter().inspect(|_| life.step()));
        }
        _ => drop(
            map.entry(prefix)
                .and_modify(|v| v.content += 1)
                .or_insert_with(|| {
                    life.step();
                    value
                }),
        ),
    }
}

/// After each step the map is whole, whether or not it panicked.
fn run<S: Stores<Value>>(steps: usize) -> usize {
    let life = Rc::new(Life::default());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut map: PrefixMap<u16, Value, S> = PrefixMap::default();
    let mut panics = 0;
    for at in 0..steps {
        life.fuse.set((at % 3 == 0).then(|| random.below(12)));
        let result = catch_unwind(AssertUnwindSafe(|| step(&mut random, &mut map, &life)));
        panics += usize::from(result.is_err());
        life.fuse.set(None);
        map.check().unwrap();
        // As many as are in it.
        let alive = if map.pair_count() == map.len() {
            map.len()
        } else {
            map.pair_count()
        };
        assert_eq!(life.alive.get(), alive as isize, "step {at}");
        assert_eq!(map.iter().count(), map.len());
    }
    drop(map);
    assert_eq!(life.alive.get(), 0);
    panics
}

/// An empty map that takes routes, in order up to some place, keeps those that came before a panic.
fn filled<S: Stores<Value>>(rounds: usize) {
    let life = Rc::new(Life::default());
    let mut random = Random(46);
    for round in 0..rounds {
        let mut prefixes: Vec<Prefix<u16>> =
            (0..random.below(80)).map(|_| random.prefix()).collect();
        prefixes.sort();
        let in_order = random.below(prefixes.len() + 1);
        if round % 2 == 0 {
            prefixes[in_order..].reverse();
        }
        let routes: Vec<_> = prefixes
            .iter()
            .map(|prefix| (*prefix, Value::new(prefix.len().into(), &life)))
            .collect();
        let mut came = 0usize;
        life.fuse
            .set((round % 4 > 0).then(|| random.below(3 * prefixes.len() + 1)));
        let mut map: PrefixMap<u16, Value, S> = PrefixMap::default();
        let result = catch_unwind(AssertUnwindSafe(|| {
            map.extend(routes.into_iter().inspect(|_| {
                life.step();
                came += 1;
            }));
        }));
        life.fuse.set(None);
        map.check().unwrap();
        assert_eq!(life.alive.get(), map.pair_count() as isize);
        // That whose value panicked may be missing.
        let all = if result.is_ok() {
            came
        } else {
            came.saturating_sub(1)
        };
        for prefix in &prefixes[..all] {
            assert_eq!(map.get(*prefix).unwrap().content, u32::from(prefix.len()));
        }
        assert!(map.keys().all(|prefix| prefixes[..came].contains(&prefix)));
    }
    assert_eq!(life.alive.get(), 0);
}

#[test]
fn routes_that_came_before_a_panic_stay() {
    filled::<Own>(rounds(300, 3000));
    filled::<Shared>(rounds(300, 3000));
}

#[test]
fn panics_of_the_values_leave_the_map_right() {
    // What is told to panic says so.
    std::panic::set_hook(Box::new(|info| {
        let told = info.payload().downcast_ref::<&str>();
        if told != Some(&"as the test asked for") {
            eprintln!("{info}");
        }
    }));
    let steps = rounds(600, 9_000);
    let (own, shared) = (run::<Own>(steps), run::<Shared>(steps));
    assert!(own > steps / 30 && shared > steps / 10, "{own}, {shared}");
}

#[test]
fn what_is_taken_out_is_dropped_by_who_takes_it() {
    let life = Rc::new(Life::default());
    let routes = || (0..100u16).map(|n| (Prefix::new_masked(n << 9, 7).unwrap(), n % 10));
    let fill = || routes().map(|(prefix, n)| (prefix, Value::new(n.into(), &life)));
    let mut map: PrefixMap<u16, Value, Shared> = fill().collect();
    assert_eq!(life.alive.get(), map.pair_count() as isize);
    let mut drained = map.drain();
    let first = drained.next();
    assert!(map.is_empty() && first.is_some());
    std::mem::forget(map.drain());
    drop(drained);
    drop(first);
    assert_eq!(life.alive.get(), 0);
    map.extend(fill());
    let values: Vec<Value> = map.into_values().take(50).collect();
    assert_eq!(life.alive.get(), 50);
    drop(values);
    assert_eq!(life.alive.get(), 0);
    let mut own: PrefixMap<u16, Value> = fill().collect();
    own.clear();
    own.check().unwrap();
    assert_eq!(life.alive.get(), 0);
}
