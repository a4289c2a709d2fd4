import { readFileSync } from 'node:fs'
import { Controller, Inject, Module } from '@nestjs/common'
import {
  type ClientKafka,
  ClientsModule,
  Ctx,
  EventPattern,
  type KafkaContext,
  Payload,
  Transport,
} from '@nestjs/microservices'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Pool } from 'pg'
import { lastValueFrom } from 'rxjs'
import { v5 as nameBasedId } from 'uuid'

const { BROKER = '', INPUT = '', TOPIC = '', DEAD_LETTERS = '', SCHEMA, PARTITIONS } = process.env
const app = { AppId: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e011', AppName: 'nestjs-payments' }
const approveUpTo = 10_000

interface OrderCreated {
  Name: string
  Id?: string
  CorrelationId?: string
  TraceId?: string
  Payload: { OrderId: string; Total: number }
}

const validate = SCHEMA ? compile(SCHEMA) : undefined

function compile(file: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  return ajv.compile(JSON.parse(readFileSync(file, 'utf8')))
}

const insert = `INSERT INTO payment (order_id, payment_id, amount, status, created_at)
  VALUES ($1, $2, $3, $4, $5) ON CONFLICT (order_id) DO NOTHING`

@Controller()
export class PaymentsController {
  constructor(
    @Inject('KAFKA') private readonly kafka: ClientKafka,
    @Inject(Pool) private readonly pool: Pool,
  ) {}

  @EventPattern<string>(INPUT)
  async pay(@Payload() event: OrderCreated, @Ctx() context: KafkaContext): Promise<void> {
    if (typeof event?.Name === 'string' && event.Name !== 'OrderCreated') return
    if (validate && !validate(event)) {
      const { key } = context.getMessage()
      await lastValueFrom(this.kafka.emit(DEAD_LETTERS, { key, value: event, headers: { reason: 'invalid event' } }))
      return
    }
    const { OrderId, Total } = event.Payload
    const [paymentId, now] = [nameBasedId('payment', OrderId), new Date()]
    const status = Total <= approveUpTo ? 'Approved' : 'Rejected'
    await this.pool.query({ name: 'insert', text: insert, values: [OrderId, paymentId, Total, status, now] })
    const announcement = {
      Headers: { CausationId: event.Id },
      Id: nameBasedId(status, paymentId),
      CorrelationId: event.CorrelationId ?? paymentId,
      TraceId: event.TraceId ?? paymentId,
      ...app,
      Version: 1,
      Name: `Payment${status}`,
      CreationDate: now.toISOString(),
      Payload: {
        PaymentId: paymentId,
        OrderId,
        Amount: Total,
        Policy: 'amount-limit@1',
        Source: 'OrderCreated',
        ...(status === 'Rejected' && { Reason: `the amount is above the limit of ${approveUpTo}` }),
      },
    }
    await lastValueFrom(this.kafka.emit(TOPIC, { key: OrderId, value: announcement }))
  }
}

@Module({
  imports: [
    ClientsModule.register([
      {
        name: 'KAFKA',
        transport: Transport.KAFKA,
        options: {
          client: { clientId: 'nestjs-payments', brokers: [BROKER] },
          producerOnlyMode: true,
          send: { acks: -1 },
        },
      },
    ]),
  ],
  controllers: [PaymentsController],
  providers: [{ provide: Pool, useFactory: () => new Pool({ max: Number(PARTITIONS) }) }],
})
export class PaymentsModule {}
