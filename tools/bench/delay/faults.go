package main

import (
	"net"
	"net/http"
	"sync"
)

// What can be posted, besides a round trip:
//
//	/hold  nothing goes on in either direction, and nothing tells so: what is sent waits
//	/cut   every connection is reset, what waited is gone, and new connections are reset, too
//	/open  all is well again, and what still waits goes on
func handleFaults() {
	handle("/hold", func() { gate.set(true) })
	handle("/cut", known.cut)
	handle("/open", func() {
		known.admit()
		gate.set(false)
	})
}

func handle(path string, change func()) {
	http.HandleFunc(path, func(http.ResponseWriter, *http.Request) { change() })
}

// The gate stops whoever is about to take something on.
var gate barrier

type barrier struct {
	sync.Mutex
	held   bool
	passes sync.RWMutex
}

func (b *barrier) set(held bool) {
	b.Lock()
	defer b.Unlock()
	if held == b.held {
		return
	}
	b.held = held
	if held {
		b.passes.Lock()
	} else {
		b.passes.Unlock()
	}
}

func (b *barrier) pass() {
	b.passes.RLock()
	b.passes.RUnlock()
}

// The connections that there are, with clients and with the upstream.
var known = connections{all: map[*net.TCPConn]bool{}}

type connections struct {
	sync.Mutex
	all   map[*net.TCPConn]bool
	isCut bool
}

// add is false when the connection was reset instead.
func (c *connections) add(connection *net.TCPConn) bool {
	c.Lock()
	defer c.Unlock()
	if c.isCut {
		reset(connection)
		return false
	}
	c.all[connection] = true
	return true
}

func (c *connections) remove(connection *net.TCPConn) {
	c.Lock()
	defer c.Unlock()
	delete(c.all, connection)
}

func (c *connections) cut() {
	c.Lock()
	defer c.Unlock()
	c.isCut = true
	for connection := range c.all {
		reset(connection)
	}
}

func (c *connections) admit() {
	c.Lock()
	defer c.Unlock()
	c.isCut = false
}

// reset closes a connection as a host does that knows nothing of it: with RST.
func reset(connection *net.TCPConn) {
	_ = connection.SetLinger(0)
	connection.Close()
}
