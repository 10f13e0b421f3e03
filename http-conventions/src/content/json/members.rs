//! Items of an array and members of an object, after the repairs of the run: some are omitted, and
//! members are added.

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, value::BorrowedStrDeserializer};
use serde_json::{Map, Value, map};

use super::{
    collect::{Added, Repair},
    key::Key,
    node::{Node, address},
    path::Path,
    stand_in::StandIn,
    stop::{About, Cause, Place, Stop},
};

/// Items of an array.
pub(super) struct Items<'de, 'n> {
    array: Node<'de, 'n>,
    items: std::iter::Enumerate<std::slice::Iter<'de, Value>>,
    /// True if all items are known to have one type.
    is_uniform: bool,
}

impl<'de, 'n> Items<'de, 'n> {
    pub(super) fn new(array: Node<'de, 'n>, items: &'de [Value], is_uniform: bool) -> Self {
        Self {
            array,
            items: items.iter().enumerate(),
            is_uniform,
        }
    }

    pub(super) fn has_unread(&self) -> bool {
        self.items.len() > 0
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'de, '_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        let run = self.array.run;
        for (index, value) in self.items.by_ref() {
            run.take_work(1)?;
            let path = Path::Item(&self.array.path, index);
            let item = Node { value, path, run };
            match run.repair(value) {
                Some(Repair::Omit) if self.is_uniform => {}
                // the type would read the next item in place of this one
                Some(Repair::Omit) => return Err(Stop::new(Cause::Length(0)).at(|_| item.own_place())),
                _ => return item.read(seed).map(Some),
            }
        }
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// Members of an object.
pub(super) struct Members<'de, 'n> {
    object: Node<'de, 'n>,
    members: map::Iter<'de>,
    added: std::slice::Iter<'n, Added>,
    /// Member whose name was read last.
    last: Option<(&'de str, &'de Value)>,
    /// Added member whose name was read last.
    last_added: Option<&'n Added>,
}

impl<'de, 'n> Members<'de, 'n> {
    pub(super) fn new(object: Node<'de, 'n>, members: &'de Map<String, Value>) -> Self {
        Self {
            object,
            members: members.iter(),
            added: object.run.added(),
            last: None,
            last_added: None,
        }
    }

    /// Location of the member whose name was read last.
    pub(super) fn last_place(&self) -> Place {
        match self.last {
            Some((name, value)) => Place {
                pointer: Path::Member(&self.object.path, name).pointer(),
                address: address(value),
                about: About::Name,
            },
            None => self.object.own_place(),
        }
    }
}

impl<'de> MapAccess<'de> for &mut Members<'de, '_> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let run = self.object.run;
        for (name, value) in self.members.by_ref() {
            run.take_work(1)?;
            if run.repair(value) == Some(Repair::Omit) {
                continue;
            }
            self.last = Some((name, value));
            let read = seed.deserialize(Key(name)).map(Some);
            return read.map_err(|stop| stop.at(|_| self.last_place()));
        }
        let here = address(self.object.value);
        let Some(added) = self.added.by_ref().find(|added| added.object == here) else {
            return Ok(None);
        };
        self.last_added = Some(added);
        seed.deserialize(BorrowedStrDeserializer::new(added.name))
            .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop> {
        let run = self.object.run;
        if let Some(added) = self.last_added {
            let read = seed.deserialize(StandIn::new(added.attempt, run));
            return read.map_err(|stop| {
                stop.at(|_| Place {
                    pointer: Path::Member(&self.object.path, added.name).pointer(),
                    address: added.object,
                    about: About::Value,
                })
            });
        }
        match self.last {
            Some((name, value)) => Node {
                value,
                path: Path::Member(&self.object.path, name),
                run,
            }
            .read(seed),
            // serde reads a name before each value
            None => seed.deserialize(StandIn::new(0, run)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}
