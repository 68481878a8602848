// The clock of the server in a line, where it is one that tests set.
import { clockMode, useNow } from '../data'
import { stamp } from '../format'
import { href } from '../router'
import { Status } from '../ui/bits'

export function ClockLine() {
  const now = useNow()
  return <p><a href={href('clock')} title="The clock of the server"><Status of={clockMode.value}>{stamp(now)}</Status></a></p>
}
