// Streams in pieces of every size, the stream helper, usage, a broken stream, and a client that leaves.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { TEXT, client, gather, messages } from './common.mjs';

const ask = (model, more = {}) => client.chat.completions.create({ model, messages, stream: true, ...more });

for (const chunk of [1, 2, 3, 7, 1000]) {
  assert.deepEqual(await gather(await ask(`echo;chunk=${chunk}`)), { text: TEXT, ends: ['stop'] });
}

let deltas = '';
const helper = client.chat.completions.stream({ model: 'echo;chunk=1', messages });
helper.on('content', (delta) => (deltas += delta));
assert.equal(await helper.finalContent(), TEXT);
assert.equal(deltas, TEXT);

let usage;
for await (const chunk of await ask('echo', { stream_options: { include_usage: true } })) usage = chunk.usage;
assert(usage.total_tokens > 20);

await assert.rejects(async () => gather(await ask('echo;chunk=4;die=6')), OpenAI.APIError);

let count = 0;
for await (const _ of await ask('echo;chunk=1;slow=0.05')) if (++count === 5) break;
