package main

import (
	"net"
	"net/http"
	"sync"
)

// handleFaults begins or ends a fault after a POST to one of these paths:
//
//	/hold  holds all data in both directions, and keeps connections open
//
//	/cut   drops held data, and resets all connections, including new ones
//
//	/open  ends a fault and forwards held data
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

// gate blocks all forwarding while data is held.
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

// known contains the open connections with clients and the upstream.
var known = connections{all: map[*net.TCPConn]bool{}}

type connections struct {
	sync.Mutex
	all   map[*net.TCPConn]bool
	isCut bool
}

// add returns false if it has reset the connection instead of adding it.
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

// reset closes a connection with RST, like a host that does not know the connection.
func reset(connection *net.TCPConn) {
	_ = connection.SetLinger(0)
	connection.Close()
}
