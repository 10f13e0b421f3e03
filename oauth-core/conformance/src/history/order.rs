//! Whether there is an order in which every verb of a history was one step: the search of Wing and Gong, with the states that were
//! seen remembered.

use std::collections::HashMap;

use super::world::World;
use super::{Entry, History};

/// A history longer than this is not searched.
const LONGEST: usize = 128;

/// The places of those verbs for which no order was found that explains them; the shortest list of all that were tried.
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
    // what was looked up and never told explains itself
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
    /// By the set of verbs that happened, what the store held when it was a dead end.
    seen: HashMap<u128, Vec<World>>,
    /// The largest such set.
    most: u128,
}

impl Search<'_> {
    /// Whether what is not in `done` can happen, in some order, in a store that holds `world`.
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

    /// Lets every lookup happen that can happen now: it changes nothing, so that later is no better.
    fn look_up(&self, done: &mut u128, world: &mut World) {
        while let Some(place) = self.next(*done).into_iter().find(|place| {
            let entry = self.entries.get(*place);
            entry.is_some_and(|entry| entry.verb.is_lookup()) && self.happens(*place, world)
        }) {
            *done |= 1 << place;
        }
    }

    /// Whether the verb answers in this world what it answered, or nobody knows what it did.
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

    /// What can be next: everything that began before the first of the others was answered.
    fn next(&self, done: u128) -> Vec<usize> {
        let answers = self
            .left(done)
            .filter_map(|(_, entry)| entry.answered.as_ref().map(|(tick, _)| *tick));
        let first = answers.min().unwrap_or(usize::MAX);
        let can_be = self.left(done).filter(|(_, entry)| entry.began < first);
        can_be.map(|(place, _)| place).collect()
    }
}
