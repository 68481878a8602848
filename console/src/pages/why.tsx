// Why something does not go on: the one reason that the server gives.
import { open, type ControlsTypes } from '../api'
import { useResource } from '../data'
import type { Kind } from '../live'
import { words } from '../format'
import { Card, Facts, ID, Shown, Status, Text, Time } from '../ui/bits'

type Reason = ControlsTypes['schemas']['Why']

export function Why({ address, name, kinds }: { address: string; name: string; kinds: Kind[] }) {
  const why = useResource(`why ${name}`, async () => (await (await open('get', address)).json()) as Reason, kinds)
  return (
    <Card title="Why">
      <Shown of={why} rows={2}>
        {w => (
          <div class="why">
            <p><Status of={w.reason}>{words(w.reason)}</Status></p>
            <p class="because">{w.because}</p>
            {w.helps && <p class="note wait"><span class="strong">What helps: </span>{w.helps}</p>}
            <Facts of={[
              ['Since', w.since && <Time at={w.since} />], ['Attempts', w.details.attempts], ['Jobs ahead', w.details.ahead], ['Exit code', w.details.exitCode], ['Worker', w.details.workerId && <ID of={w.details.workerId} />],
              ['Host', w.details.hostId && <ID of={w.details.hostId} />], ['Next try', w.details.nextAt && <Time at={w.details.nextAt} />],
            ]} />
            {w.details.lines.length > 0 && <Text label="Last lines">{w.details.lines.join('\n')}</Text>}
          </div>
        )}
      </Shown>
    </Card>
  )
}
