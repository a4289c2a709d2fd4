import { randomBytes } from 'node:crypto'
import { freePorts, type KafkaConnection, type StackTokens } from '@orderflow/stack'

/** What docker-compose.yml asks for, made for one run. */
export interface ComposeSettings {
  variables: Record<string, string>
  tokens: StackTokens
  urls: { orderUrl: string; orderHttpsUrl: string; paymentUrl: string; paymentHttpsUrl: string }
  kafka: KafkaConnection
  mongoUri: string
}

/** Free ports of this machine, and secrets that nobody has used before. */
export async function composeSettings(): Promise<ComposeSettings> {
  const { order, payment, kafka, kafkaController: mongo } = await freePorts()
  const secret = () => randomBytes(24).toString('base64url')
  const [kafkaPassword, mongoPassword] = [secret(), secret()]
  const tokens = { order: { app: secret(), dapr: secret() }, payment: { app: secret(), dapr: secret() } }
  const ports = {
    ORDER_HTTP_PORT: order.http,
    ORDER_HTTPS_PORT: order.https,
    PAYMENT_HTTP_PORT: payment.http,
    PAYMENT_HTTPS_PORT: payment.https,
    KAFKA_PORT: kafka,
    MONGO_PORT: mongo,
  }
  return {
    variables: {
      ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
      KAFKA_PASSWORD: kafkaPassword,
      MONGO_PASSWORD: mongoPassword,
      ORDER_APP_TOKEN: tokens.order.app,
      ORDER_DAPR_TOKEN: tokens.order.dapr,
      PAYMENT_APP_TOKEN: tokens.payment.app,
      PAYMENT_DAPR_TOKEN: tokens.payment.dapr,
    },
    tokens,
    urls: {
      orderUrl: `http://127.0.0.1:${order.http}`,
      orderHttpsUrl: `https://127.0.0.1:${order.https}`,
      paymentUrl: `http://127.0.0.1:${payment.http}`,
      paymentHttpsUrl: `https://127.0.0.1:${payment.https}`,
    },
    kafka: {
      bootstrapBrokers: [`127.0.0.1:${kafka}`],
      sasl: { mechanism: 'PLAIN', username: 'orderflow', password: kafkaPassword },
    },
    // The replica set's only member is known by a name that is the network's own.
    mongoUri: `mongodb://orderflow:${mongoPassword}@127.0.0.1:${mongo}/?authSource=admin&directConnection=true`,
  }
}
