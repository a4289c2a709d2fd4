import { expect } from 'chai'
import { changesBetween, describeChange, patchOf } from '../../src/release/config-vars.ts'

describe('the diff of config vars', () => {
  const current = { Log__Level: 'info', State__ConnectionString: 'old-secret', ADDON: 'not ours', Gone: 'x' }
  const wanted = {
    Log__Level: 'warn',
    State__ConnectionString: 'new-secret',
    App__Name: 'order-service',
    Gone: undefined,
  }
  const changes = changesBetween(current, wanted)

  it('shows new, removed and changed values, and masks secrets', () => {
    expect(changes.map(describeChange)).to.deep.equal([
      '+ App__Name = order-service',
      '- Gone = x',
      '~ Log__Level = info -> warn',
      '~ State__ConnectionString = *** -> *** (another value)',
    ])
  })

  it('leaves out unchanged values, and variables that the export does not have', () => {
    expect(changesBetween({ A: '1', B: '2' }, { A: '1' })).to.deep.equal([])
  })

  it('masks a URL with credentials in a variable of any name, and shortens long values', () => {
    const [url, long] = changesBetween({}, { Other: 'amqp://me:secret@host', Z: 'x\n'.repeat(50) })
    expect(url && describeChange(url)).to.equal('+ Other = ***')
    expect(long && describeChange(long)).to.match(/^\+ Z = (x )+x?\.\.\.$/)
  })

  it('becomes a patch in which null removes a config var', () => {
    expect(patchOf(changes)).to.deep.equal({
      App__Name: 'order-service',
      Gone: null,
      Log__Level: 'warn',
      State__ConnectionString: 'new-secret',
    })
  })
})
