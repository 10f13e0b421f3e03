//! Values from seeds; see `Roll` and `make` in `tests/oracle/world.mjs`.

use std::sync::Arc;

use juniper::ID;

/// Mixes two words to 32 bits.
pub(crate) fn mix(left: u32, right: u32) -> u32 {
    let mut word = left.wrapping_add(0x9e37_79b9) ^ right.wrapping_mul(0x9e37_79b1);
    word = (word ^ (word >> 16)).wrapping_mul(0x85eb_ca6b);
    word = (word ^ (word >> 13)).wrapping_mul(0xc2b2_ae35);
    word ^ (word >> 16)
}

pub(crate) fn digest(text: &str) -> u32 {
    text.bytes().fold(0, |word, byte| mix(word, u32::from(byte)))
}

pub(crate) struct Roll(pub(crate) u32);

impl Roll {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = mix(self.0, 1);
        self.0
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.next() % bound
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let bound = u32::try_from(list.len()).unwrap();
        &list[usize::try_from(self.below(bound)).unwrap()]
    }
}

const TEXTS: [&str; 12] = [
    "",
    "plain",
    "a text that is long enough to be looked at eight bytes at a time",
    "quoted \"twice\"",
    "back\\slash / slash",
    "line\nfeed\ttab\r",
    "\0\u{1f}\u{7f}\u{8}\u{c}",
    "grüße",
    "日本語",
    "🦀 astral",
    "</script>",
    "\u{2028}\u{2029}",
];

/// Creates a value from rolls.
pub(crate) trait Make {
    fn make(roll: &mut Roll) -> Self;
}

impl Make for i32 {
    fn make(roll: &mut Roll) -> Self {
        roll.next().cast_signed()
    }
}

impl Make for f64 {
    fn make(roll: &mut Roll) -> Self {
        Self::from(roll.below(2000)) - 1000.0 + 0.5
    }
}

impl Make for bool {
    fn make(roll: &mut Roll) -> Self {
        roll.below(2) == 1
    }
}

impl Make for ID {
    fn make(roll: &mut Roll) -> Self {
        Self::from(format!("id-{}", roll.below(1000)))
    }
}

impl Make for &'static str {
    fn make(roll: &mut Roll) -> Self {
        roll.pick::<&str>(&TEXTS)
    }
}

impl Make for String {
    fn make(roll: &mut Roll) -> Self {
        let text = *roll.pick(&TEXTS);
        format!("{text}{}", roll.below(1000))
    }
}

impl<T: Make> Make for Option<T> {
    fn make(roll: &mut Roll) -> Self {
        (roll.below(4) != 0).then(|| T::make(roll))
    }
}

impl<T: Make> Make for Vec<T> {
    fn make(roll: &mut Roll) -> Self {
        (0..roll.below(4)).map(|_| T::make(roll)).collect()
    }
}

impl<T: Make> Make for Box<T> {
    fn make(roll: &mut Roll) -> Self {
        Self::new(T::make(roll))
    }
}

impl<T: Make> Make for Arc<T> {
    fn make(roll: &mut Roll) -> Self {
        Self::new(T::make(roll))
    }
}
