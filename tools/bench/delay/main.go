// A TCP proxy that is as far from its upstream as it is told: what it reads goes on half a round trip later, in either direction.
//
//	delay LISTEN UPSTREAM CONTROL
//
// What is posted to http://CONTROL/ is the round trip from then on, in microseconds. It begins with none. More can be wrong with a network
// than that it is slow: faults.go.
package main

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A packet is what was read at once, on its way. Without data it is the end of its direction.
type packet struct {
	data []byte
	due  time.Time
	out  chan<- []byte
}

var (
	roundTrip atomic.Int64
	// The delay is the same for all, so who came first is due first.
	underWay = make(chan packet, 1<<16)
)

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", setRoundTrip)
	handleFaults()
	go func() { log.Fatal(http.ListenAndServe(os.Args[3], nil)) }()
	go deliver()
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		if known.add(client.(*net.TCPConn)) {
			go connect(client.(*net.TCPConn), os.Args[2])
		}
	}
}

func setRoundTrip(response http.ResponseWriter, request *http.Request) {
	text, _ := io.ReadAll(request.Body)
	microseconds, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	roundTrip.Store(microseconds * int64(time.Microsecond))
}

// The runtime's own timers are late by up to a millisecond when nothing else runs; a thread that sleeps is late by some 50 microseconds.
func deliver() {
	runtime.LockOSThread()
	for packet := range underWay {
		for left := time.Until(packet.due); left > 0; left = time.Until(packet.due) {
			pause := syscall.NsecToTimespec(int64(left))
			_ = syscall.Nanosleep(&pause, nil)
		}
		packet.out <- packet.data
	}
}

func connect(client *net.TCPConn, upstream string) {
	defer known.remove(client)
	gate.pass()
	server, err := net.Dial("tcp", upstream)
	if err != nil {
		log.Print(err)
		reset(client)
		return
	}
	if !known.add(server.(*net.TCPConn)) {
		reset(client)
		return
	}
	defer known.remove(server.(*net.TCPConn))
	var both sync.WaitGroup
	both.Add(2)
	go relay(client, server.(*net.TCPConn), both.Done)
	go relay(server.(*net.TCPConn), client, both.Done)
	both.Wait()
	client.Close()
	server.Close()
}

// relay takes what `from` says to `to`. Each direction ends by itself.
func relay(to, from *net.TCPConn, done func()) {
	out := make(chan []byte, 1<<10)
	go write(to, out, done)
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		gate.pass()
		due := time.Now().Add(time.Duration(roundTrip.Load() / 2))
		if n > 0 {
			underWay <- packet{append([]byte(nil), buffer[:n]...), due, out}
		}
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				// Cut, or broken at its far end: it did not end in order, so neither does the other half.
				reset(to)
			} else if !errors.Is(err, io.EOF) {
				log.Print(err)
			}
			underWay <- packet{nil, due, out}
			return
		}
	}
}

func write(to *net.TCPConn, out <-chan []byte, done func()) {
	defer done()
	for data := range out {
		if data == nil {
			break
		}
		if _, err := to.Write(data); err != nil {
			// Its other direction ends with it.
			to.Close()
		}
	}
	_ = to.CloseWrite()
}
