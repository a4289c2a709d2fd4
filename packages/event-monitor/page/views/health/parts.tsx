import type { HealthView } from '../../../src/api/index.ts'
import { hrefs, placeText } from '../../lib/route.ts'
import { Columns } from '../../parts/columns.tsx'
import { State } from '../../parts/marks.tsx'

/** What runs. */
export function Parts({ health: { services, kafka } }: { health: HealthView }) {
  return (
    <section>
      <h2>Services and Kafka</h2>
      <div class="table-box">
        <table>
          <Columns of={['Part', 'State', 'Sidecar']} />
          <tbody>
            {services.map(({ name, state, reason, sidecar, url, redelivered }) => (
              <tr key={name}>
                <td>
                  {url ? (
                    <a href={url} target="_blank" rel="noreferrer">
                      {name}
                    </a>
                  ) : (
                    name
                  )}
                </td>
                <td>
                  <State kind={state === 'ready' ? 'good' : 'bad'}>{state}</State> <span class="whole">{reason}</span>
                  {redelivered.map(({ deliveries, ...position }) => (
                    <div key={placeText(position)}>
                      <State kind="bad">stuck</State> <a href={hrefs.event(position)}>{placeText(position)}</a> was
                      delivered {deliveries} times and is not handled
                    </div>
                  ))}
                </td>
                <td>
                  <State kind={sidecar === 'up' ? 'good' : sidecar === 'down' ? 'bad' : 'warn'}>{sidecar}</State>
                </td>
              </tr>
            ))}
            <tr>
              <td>Kafka</td>
              <td>
                <State kind={kafka.isUp ? 'good' : 'bad'}>{kafka.isUp ? 'up' : 'does not answer'}</State>{' '}
                <span class="whole">{kafka.error}</span>
                {kafka.brokers.map(({ id, address, isController }) => (
                  <div key={id} class="quiet">
                    broker {id} at {address}
                    {isController && ', controller'}
                  </div>
                ))}
              </td>
              <td>–</td>
            </tr>
          </tbody>
        </table>
      </div>
    </section>
  )
}
