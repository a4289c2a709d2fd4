import { createServer } from 'node:http'
import { kafkaConnection } from '../kafka/connection.ts'
import { streamMetrics } from './stream-metrics.ts'

// The exporter of `make observe`: `node src/observe/exporter.ts HOST PORT`, with the variables of section `Stream`.
const [host, port] = process.argv.slice(2)
createServer(streamMetrics(kafkaConnection(process.env))).listen(Number(port), host)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))
