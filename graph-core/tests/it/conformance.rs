//! Conformance kits for the stores of this crate (X5).

mod persisted {
    graph_core_conformance::persisted_store!(
        #[tokio::test]
        graph_core::memory::MemoryPersisted::new(64 << 20)
    );
}
