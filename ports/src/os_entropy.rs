use std::cell::RefCell;

use zeroize::{Zeroize, Zeroizing};

use crate::Entropy;

/// Length of the buffer of one thread, in bytes.
const BUFFER: usize = 512;
/// Longest request that is served from the buffer, in bytes: two keys or tokens of 256 bits.
const LONGEST_BUFFERED: usize = 64;

/// Random number generator of the operating system. Panics if it fails.
///
/// # Performance
///
/// Each thread reads 512 bytes ahead, so that several short requests share one call of the
/// operating system. A request of more than 64 bytes is a call of its own.
///
/// # Security
///
/// - All bytes come from the operating system; there is no generator in the process, and nothing to
///   reseed.
/// - A byte is overwritten with zeros in the buffer as soon as it is handed out, and the rest when
///   the thread ends. Until then, an attacker who can read the memory of the process learns up to
///   512 bytes that later requests of this thread get.
/// - After a fork, the child discards the bytes of its parent, which it recognises by the process
///   id. A descendant with the same process id keeps them, for example one that starts in a new PID
///   namespace, or that gets the id of an ended ancestor, and executes no other program. Such a
///   process must use [`entropy_fn`](crate::entropy_fn) with a generator that does not read ahead.
/// - Two virtual machines that resume from one snapshot hand out the same buffered bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        if buffer.len() > LONGEST_BUFFERED {
            return read_system(buffer);
        }
        let buffered = READ_AHEAD.try_with(|ahead| match ahead.try_borrow_mut() {
            Ok(mut ahead) => ahead.fill(buffer, std::process::id(), read_system),
            Err(_) => read_system(buffer),
        });
        // the thread is ending and has dropped its buffer
        buffered.unwrap_or_else(|_| read_system(buffer));
    }
}

#[expect(
    clippy::expect_used,
    reason = "a process that cannot draw random bytes must not make tokens"
)]
fn read_system(buffer: &mut [u8]) {
    getrandom::fill(buffer).expect("the operating system supplies random bytes");
}

thread_local! {
    static READ_AHEAD: RefCell<ReadAhead> = RefCell::new(ReadAhead::new());
}

/// Random bytes that no request has got.
struct ReadAhead {
    /// The first `left` bytes are unused, the others zero.
    bytes: Zeroizing<[u8; BUFFER]>,
    left: usize,
    /// Process that read the bytes.
    process: u32,
}

impl ReadAhead {
    fn new() -> Self {
        Self {
            bytes: Zeroizing::new([0; BUFFER]),
            left: 0,
            process: 0,
        }
    }

    /// Overwrites `wanted` with unused bytes. Calls `read` when all bytes are used, or were read by
    /// another process than `process`.
    fn fill(&mut self, mut wanted: &mut [u8], process: u32, read: impl Fn(&mut [u8])) {
        if self.process != process {
            self.left = 0;
            self.process = process;
        }
        while !wanted.is_empty() {
            if self.left == 0 {
                read(self.bytes.as_mut_slice());
                self.left = BUFFER;
            }
            let taken = wanted.len().min(self.left);
            let (unused, _) = self.bytes.split_at_mut(self.left);
            let (_, used) = unused.split_at_mut(self.left - taken);
            let (filled, rest) = wanted.split_at_mut(taken);
            filled.copy_from_slice(used);
            used.zeroize();
            self.left -= taken;
            wanted = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Source of the numbers 1, 2, 3, … in two bytes each, so that a repetition is visible.
    struct Numbers {
        next: Cell<u16>,
        calls: Cell<usize>,
    }

    impl Numbers {
        fn new() -> Self {
            let (next, calls) = (Cell::new(1), Cell::new(0));
            Self { next, calls }
        }

        fn read(&self, buffer: &mut [u8]) {
            self.calls.set(self.calls.get() + 1);
            for pair in buffer.chunks_exact_mut(2) {
                pair.copy_from_slice(&self.next.get().to_be_bytes());
                self.next.set(self.next.get() + 1);
            }
        }
    }

    fn draw(ahead: &mut ReadAhead, length: usize, process: u32, source: &Numbers) -> Vec<u8> {
        let mut wanted = vec![0; length];
        ahead.fill(&mut wanted, process, |buffer| source.read(buffer));
        wanted
    }

    fn numbers(bytes: &[u8]) -> Vec<u16> {
        let pairs = bytes.as_chunks::<2>().0.iter();
        pairs.map(|pair| u16::from_be_bytes(*pair)).collect()
    }

    #[test]
    fn draws_across_refills_repeat_no_bytes() {
        // 48 and 62 do not divide 512, so requests end in the middle of a buffer
        for length in [2, 16, 32, 48, 62, 64] {
            let (mut ahead, source) = (ReadAhead::new(), Numbers::new());
            let mut drawn = Vec::new();
            for _ in 0..200 {
                drawn.extend(numbers(&draw(&mut ahead, length, 1, &source)));
            }
            let total = drawn.len();
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), total, "{length}");
            assert!(!drawn.contains(&0), "{length}");
            assert_eq!(source.calls.get(), (200 * length).div_ceil(BUFFER), "{length}");
        }
    }

    #[test]
    fn handed_out_bytes_are_zero_in_buffer() {
        let (mut ahead, source) = (ReadAhead::new(), Numbers::new());
        draw(&mut ahead, 48, 1, &source);
        let (unused, used) = ahead.bytes.split_at(ahead.left);
        assert_eq!(unused.len(), BUFFER - 48);
        assert!(unused.chunks_exact(2).all(|pair| pair != [0, 0]));
        assert!(used.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn child_process_discards_buffer_of_parent() {
        let (mut ahead, source) = (ReadAhead::new(), Numbers::new());
        draw(&mut ahead, 32, 1, &source);
        let last_of_parent = source.next.get();
        let child = numbers(&draw(&mut ahead, 32, 2, &source));
        assert_eq!(source.calls.get(), 2);
        assert!(child.iter().all(|number| *number >= last_of_parent));
        draw(&mut ahead, 32, 2, &source);
        assert_eq!(source.calls.get(), 2);
    }

    #[test]
    fn failing_source_leaves_no_bytes_to_hand_out() {
        let mut ahead = ReadAhead::new();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            ahead.fill(&mut [0; 8], 1, |_| panic!("no randomness"));
        }));
        assert!(failed.is_err());
        assert_eq!(ahead.left, 0);
    }

    fn left_of_this_thread() -> usize {
        READ_AHEAD.with(|ahead| ahead.borrow().left)
    }

    #[test]
    fn only_short_requests_use_buffer() {
        OsEntropy.fill(&mut [0; LONGEST_BUFFERED]);
        assert_eq!(left_of_this_thread(), BUFFER - LONGEST_BUFFERED);
        let mut long = [0; LONGEST_BUFFERED + 1];
        OsEntropy.fill(&mut long);
        assert_eq!(left_of_this_thread(), BUFFER - LONGEST_BUFFERED);
        assert!(long.iter().any(|byte| *byte != 0));
        OsEntropy.fill(&mut []);
        assert_eq!(left_of_this_thread(), BUFFER - LONGEST_BUFFERED);
    }

    #[test]
    fn draws_of_all_threads_differ() {
        let draws = || -> Vec<[u8; 32]> {
            let draw = |_| {
                let mut bytes = [0; 32];
                OsEntropy.fill(&mut bytes);
                bytes
            };
            (0..100).map(draw).collect()
        };
        let threads = [0; 4].map(|_| std::thread::spawn(draws));
        let mut drawn: Vec<_> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 400);
    }
}
