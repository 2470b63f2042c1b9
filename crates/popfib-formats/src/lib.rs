//! Readers and writers of routing tables.
