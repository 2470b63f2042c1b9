package popfib

// A file that is published again and again in; the newest table that could be opened out, at any moment.
// The file is followed by its metadata, which is asked for at intervals: that works on every system and
// file system, where notifications of changes do not.

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Watcher has the newest table of a file, or what a program makes of it. Readers never wait: they take
// what is current, and keep it for as long as they use it, unchanged; garbage collection frees it then.
type Watcher[T any] struct {
	path    string
	prepare func(*Table) (T, error)
	watchOptions
	current atomic.Pointer[T]

	// Of whoever reads the file.
	mutex sync.Mutex
	seen  fileState
	told  string
	stop  chan struct{}
	ended chan struct{}
	once  sync.Once
}

// A WatchOption changes how a file is followed.
type WatchOption func(*watchOptions)

type watchOptions struct {
	interval time.Duration
	onError  func(error)
	onReload func()
	open     []Option
}

// WithInterval says how often the file's metadata is asked for; otherwise it is once a second.
func WithInterval(interval time.Duration) WatchOption {
	return func(o *watchOptions) { o.interval = interval }
}

// WithOnError is called with the error of a file that cannot be opened, once for each. The table before
// it stays.
func WithOnError(call func(error)) WatchOption {
	return func(o *watchOptions) { o.onError = call }
}

// WithOnReload is called after a new table has become the current one.
func WithOnReload(call func()) WatchOption {
	return func(o *watchOptions) { o.onReload = call }
}

// WithTable chooses a table of an image of several, as [WithName] does.
func WithTable(name string) WatchOption {
	return func(o *watchOptions) { o.open = append(o.open, WithName(name)) }
}

// Watch opens a table, and follows its file until Close. An error is that of the first time; later ones
// go to [WithOnError].
func Watch(path string, with ...WatchOption) (*Watcher[*Table], error) {
	return WatchAs(path, func(table *Table) (*Table, error) { return table, nil }, with...)
}

// WatchAs is Watch of what prepare makes of each table, such as a struct of the table and its columns,
// which so belong together. If it fails, what was current stays.
func WatchAs[T any](path string, prepare func(*Table) (T, error), with ...WatchOption) (*Watcher[T], error) {
	w := &Watcher[T]{path: path, prepare: prepare, stop: make(chan struct{}), ended: make(chan struct{})}
	w.interval = time.Second
	for _, option := range with {
		option(&w.watchOptions)
	}
	if w.interval <= 0 {
		w.interval = time.Second
	}
	if err := w.Reload(); err != nil {
		return nil, err
	}
	go w.follow()
	return w, nil
}

// Current returns the newest table, or what was made of it. It neither waits nor allocates. All lookups
// that belong together, such as an address and its columns, should use what one call returned.
func (w *Watcher[T]) Current() T { return *w.current.Load() }

// Reload reads the file now, whether it has changed or not. It is for signals, and for those who know that
// the file is new. If it returns an error, what was current stays.
func (w *Watcher[T]) Reload() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	err := w.load()
	if err == nil {
		w.told = ""
	}
	return err
}

// Close ends following the file, and waits until no callback runs. What is current stays. It may be called
// several times, but not by a callback.
func (w *Watcher[T]) Close() {
	w.once.Do(func() { close(w.stop) })
	<-w.ended
}

// load opens the file, and notes its state, also of one that cannot be opened.
func (w *Watcher[T]) load() error {
	table, info, err := openFile(w.path, w.open)
	w.seen = stateOf(info)
	if err != nil {
		return err
	}
	value, err := w.prepare(table)
	if err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	w.current.Store(&value)
	return nil
}

// follow asks for the metadata until it is stopped.
func (w *Watcher[T]) follow() {
	defer close(w.ended)
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	// A file that was refused may be one that is just being written, by a program that does not put a
	// whole one in its place. If that took no time that metadata has, it would never look changed.
	retry := false
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
		}
		w.mutex.Lock()
		info, err := os.Stat(w.path)
		isNew := err != nil || !w.seen.is(info)
		if isNew || retry {
			if err == nil {
				err = w.load()
			}
			retry = isNew && err != nil
		} else {
			w.mutex.Unlock()
			continue
		}
		told := w.told
		if w.told = ""; err != nil {
			w.told = err.Error()
		}
		w.mutex.Unlock()
		// Without the lock, so that they may call Reload.
		if err == nil && w.onReload != nil {
			w.onReload()
		}
		if err != nil && err.Error() != told && w.onError != nil {
			w.onError(err)
		}
	}
}

// fileState is what tells one published file from the next.
type fileState struct{ info os.FileInfo }

func stateOf(info os.FileInfo) fileState { return fileState{info} }

func (s fileState) is(info os.FileInfo) bool {
	return s.info != nil && s.info.ModTime().Equal(info.ModTime()) && s.info.Size() == info.Size() && os.SameFile(s.info, info)
}
