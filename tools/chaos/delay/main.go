// A TCP proxy that delays data by half a round trip in each direction.
//
//	delay LISTEN UPSTREAM CONTROL
//
// A POST to http://CONTROL/ sets the round trip in microseconds, which is 0 at first. faults.go adds other faults.
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

// A packet is the data of one read. A packet without data marks the end of its direction.
type packet struct {
	data []byte
	due  time.Time
	out  chan<- []byte
}

var (
	roundTrip atomic.Int64
	// The delay is the same for all packets, so they are due in the order of arrival.
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

// deliver forwards each packet when it is due. It sleeps in its own thread, which wakes up about 50 microseconds late. Go’s timers are late by
// up to a millisecond when nothing else runs.
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

// relay forwards data from `from` to `to`. Each direction ends independently.
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
				// This side of the connection was cut or is broken, so the other side is also reset.
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
			// Closing the connection also ends the other direction.
			to.Close()
		}
	}
	_ = to.CloseWrite()
}
