// The Responses API and embeddings: whole, streamed, tools, structured output, vectors that agree.
import assert from 'node:assert/strict';
import { EMAIL, NAME, TEXT, client } from './common.mjs';

const answer = await client.responses.create({ model: 'echo', input: TEXT, instructions: `Help ${NAME}.` });
assert.equal(answer.output_text, TEXT);
assert.equal(answer.instructions, `Help ${NAME}.`);

let deltas = '';
const stream = client.responses.stream({ model: 'echo;chunk=2', input: TEXT });
stream.on('response.output_text.delta', (event) => (deltas += event.delta));
assert.equal((await stream.finalResponse()).output_text, TEXT);
assert.equal(deltas, TEXT);

const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false };
const tools = [{ type: 'function', name: 'save', strict: true, description: `For ${EMAIL}.`, parameters }];
const called = await client.responses.create({ model: 'echo', input: TEXT, tools });
assert.deepEqual(JSON.parse(called.output[0].arguments), { text: TEXT });
const result = { type: 'function_call_output', call_id: 'call_1', output: `Saved for ${NAME}` };
const said = { role: 'user', content: TEXT };
const last = await client.responses.create({ model: 'echo', input: [said, called.output[0], result], tools });
assert.equal(last.output_text, `Saved for ${NAME}`);

const [one, two] = (await client.embeddings.create({ model: 'echo', input: [TEXT, 'plain'] })).data;
const again = (await client.embeddings.create({ model: 'echo', input: TEXT })).data[0];
assert.deepEqual(one.embedding, again.embedding);
assert.notDeepEqual(one.embedding, two.embedding);
