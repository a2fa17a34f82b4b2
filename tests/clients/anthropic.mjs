// The official client of Anthropic's API: messages, streams, tools, tokens, refusals.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { EMAIL, NAME, TEXT } from './common.mjs';

const baseURL = process.env.BASE_URL.replace(/\/v1$/, '');
const client = new Anthropic({ baseURL, apiKey: 'sk-ant-0123456789', maxRetries: 0 });
const asked = [{ role: 'user', content: TEXT }];
const ask = (model, more = {}) => ({ model, max_tokens: 99, messages: asked, ...more });

assert.equal((await client.messages.create(ask('echo', { system: `Help ${NAME}.` }))).content[0].text, TEXT);
for (const chunk of [1, 7]) {
  let text = '';
  const stream = client.messages.stream(ask(`echo;chunk=${chunk}`)).on('text', (delta) => (text += delta));
  assert.equal((await stream.finalMessage()).content[0].text, TEXT);
  assert.equal(text, TEXT);
}

const input_schema = { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } } };
const tools = [{ name: 'save', description: `Saves for ${EMAIL}.`, input_schema }];
const whole = await client.messages.create(ask('echo', { tools }));
const streamed = await client.messages.stream(ask('echo;chunk=2;ascii=1', { tools })).finalMessage();
for (const answer of [whole, streamed]) assert.deepEqual(answer.content[0].input, { text: TEXT, count: 1 });
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: `Saved for ${NAME}` };
const turns = [...asked, { role: 'assistant', content: whole.content }, { role: 'user', content: [result] }];
assert.equal((await client.messages.create(ask('echo', { tools, messages: turns }))).content[0].text, result.content);

assert.equal((await client.messages.countTokens({ model: 'echo', messages: asked })).input_tokens, 5000);
await assert.rejects(client.post('/v1/nothing', { body: {} }), (error) => {
  assert(error instanceof Anthropic.BadRequestError);
  assert.equal(error.error.error.code, 'unsupported_by_policy');
  return true;
});
