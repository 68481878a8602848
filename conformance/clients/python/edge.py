"""What stands between clients and a server where the clients know one public name: answers every question for an address with
127.0.0.1 (DNS, on port 53), and ends TLS on port 443 by the name that is asked for: that of the API, or ID-PORT.proxy… of a pod.

usage: edge.py CERTIFICATE KEY API_PORT. Prints a line when it listens. It is for a network of its own, where those ports are free.
"""

import asyncio
import ssl
import sys

certificate, key, api = sys.argv[1:]


class Names(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, question, sender):
        end = question.index(b"\0", 12) + 5
        kind = question[end - 4 : end - 2]
        found = kind == b"\0\1"  # an IPv4 address
        header = question[:2] + b"\x81\x80" + b"\0\1" + (b"\0\1" if found else b"\0\0") + b"\0\0\0\0"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" if found else b""
        self.transport.sendto(header + question[12:end] + answer, sender)


async def pass_on(reader, writer):
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        pass
    finally:
        writer.close()


async def connected(reader, writer):
    name = writer.get_extra_info("ssl_object").asked
    port = int(name.split(".")[0].rsplit("-", 1)[1]) if ".proxy." in name else int(api)
    try:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.close()
        return
    await asyncio.gather(pass_on(reader, to_writer), pass_on(to_reader, writer))


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def asked(connection, name, _):
        connection.asked = name

    context.sni_callback = asked
    await asyncio.get_running_loop().create_datagram_endpoint(Names, ("127.0.0.1", 53))
    server = await asyncio.start_server(connected, "127.0.0.1", 443, ssl=context)
    print("listening", flush=True)
    await server.serve_forever()


asyncio.run(main())
