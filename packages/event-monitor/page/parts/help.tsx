import { destinations } from '../lib/keys.ts'
import { Dialog } from './dialog.tsx'

const keys: [string, string][] = [
  ['/', 'search'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['c', 'its conversation'],
  ['Space', 'stop and go on'],
  ['Esc', 'back'],
  ['?', 'this'],
]

/** What keys and words there are. */
export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys and words" close={close}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        {Object.entries(destinations).map(([key, { title }]) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <p>
        The search takes words (each must begin a word of name, publisher, topic, validity or problem), ids such as Id,
        CorrelationId or a GUID of the Payload, and positions such as <code>a-topic/2/1234</code>. It finds no personal
        values.
      </p>
      <p>
        <code>***</code> stands for a personal value: it does not leave the monitor. The filters are in the address,
        with absolute times: a link shows somebody else the same.
      </p>
      <p>
        <a href="/licenses.txt">Licenses of what this page is made of</a>
      </p>
    </Dialog>
  )
}
