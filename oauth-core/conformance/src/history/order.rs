//! Search for a sequential order that explains a history: the algorithm of Wing and Gong, with a
//! cache of visited states.

use std::collections::HashMap;

use super::world::World;
use super::{Entry, History};

/// Length limit: a longer history is not searched.
const LONGEST: usize = 128;

/// The numbers of the verbs that no order explains; the shortest list of all attempts.
pub(super) fn unexplained(history: &History) -> Option<Vec<usize>> {
    let entries = &history.entries;
    if entries.len() > LONGEST {
        return Some((0..entries.len()).collect());
    }
    let mut search = Search {
        entries,
        seen: HashMap::new(),
        most: 0,
    };
    // a lookup without a response constrains nothing
    let begun = |(place, entry): (usize, &Entry)| {
        u128::from(entry.answered.is_none() && entry.verb.is_lookup()) << place
    };
    let done = entries.iter().enumerate().map(begun).sum();
    if search.from(done, World::default()) {
        return None;
    }
    let left = |place: &usize| search.most & (1 << place) == 0;
    Some((0..entries.len()).filter(left).collect())
}

struct Search<'a> {
    entries: &'a [Entry],
    /// Store states that were dead ends, by the set of verbs that happened.
    seen: HashMap<u128, Vec<World>>,
    /// The largest set of verbs that some order explains.
    most: u128,
}

impl Search<'_> {
    /// Returns `true` if the verbs outside `done` can happen, in some order, in a store that holds
    /// `world`.
    fn from(&mut self, mut done: u128, mut world: World) -> bool {
        self.look_up(&mut done, &mut world);
        if self.left(done).all(|(_, entry)| entry.answered.is_none()) {
            return true;
        }
        if done.count_ones() > self.most.count_ones() {
            self.most = done;
        }
        let seen = self.seen.entry(done).or_default();
        if seen.contains(&world) {
            return false;
        }
        seen.push(world.clone());
        for place in self.next(done) {
            let mut after = world.clone();
            if self.happens(place, &mut after) && self.from(done | (1 << place), after) {
                return true;
            }
        }
        false
    }

    /// Applies every lookup that fits now: lookups change nothing, so that later is no better.
    fn look_up(&self, done: &mut u128, world: &mut World) {
        while let Some(place) = self.next(*done).into_iter().find(|place| {
            let entry = self.entries.get(*place);
            entry.is_some_and(|entry| entry.verb.is_lookup()) && self.happens(*place, world)
        }) {
            *done |= 1 << place;
        }
    }

    /// Applies the verb. Returns `true` if its response equals the recorded one, or none was
    /// recorded.
    fn happens(&self, place: usize, world: &mut World) -> bool {
        self.entries.get(place).is_some_and(|entry| {
            let reply = world.apply(&entry.verb);
            match &entry.answered {
                Some((_, answered)) => reply.as_ref() == Some(answered),
                None => true,
            }
        })
    }

    fn left(&self, done: u128) -> impl Iterator<Item = (usize, &Entry)> {
        let left = move |(place, _): &(usize, &Entry)| done & (1 << place) == 0;
        self.entries.iter().enumerate().filter(left)
    }

    /// The candidates for the next verb: those that began before the first remaining response.
    fn next(&self, done: u128) -> Vec<usize> {
        let answers = self
            .left(done)
            .filter_map(|(_, entry)| entry.answered.as_ref().map(|(tick, _)| *tick));
        let first = answers.min().unwrap_or(usize::MAX);
        let can_be = self.left(done).filter(|(_, entry)| entry.began < first);
        can_be.map(|(place, _)| place).collect()
    }
}
