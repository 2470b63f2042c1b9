//! Images: round trips, damage, files.

mod damage;
mod files;
mod forms;
mod round_trip;
