//! The scripts: each is one step that nothing comes between.

use std::sync::LazyLock;

use redis::Script;

pub(crate) static ADVANCE: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/advance.lua")));
pub(crate) static CLAIM: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/claim.lua")));
pub(crate) static TAKE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/take.lua")));
pub(crate) static FINISH: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/finish.lua")));
