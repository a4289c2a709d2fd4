module delay

go 1.21
