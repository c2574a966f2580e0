"""Training of a recurrent network with long short-term memory to predict a text's next character, with AdaGrad."""
import sys

import numpy as np

H_size, T_steps, max_iters = map(int, sys.argv[1:4])
learning_rate, weight_sd, dump = 1e-1, 0.1, 2

data = "the quick brown fox jumps over the lazy dog while the sphinx of black quartz judges its vow. " * 3
chars = list(dict.fromkeys(data))
X_size = len(chars)
z_size = H_size + X_size
print("data has %d characters, %d unique" % (len(data), X_size))
char_to_idx = {ch: i for i, ch in enumerate(chars)}

seed = 0


def spread(rows, columns):
    global seed
    seed += 1
    return ((np.arange(rows * columns) + seed) * 0.8191725133961645 % 1 - 0.5).reshape(rows, columns)


class Param:
    def __init__(self, value):
        self.v = value  # parameter value
        self.d = np.zeros_like(value)  # derivative
        self.m = np.zeros_like(value)  # momentum for AdaGrad


class p:
    W_f, b_f = Param(spread(H_size, z_size) * weight_sd + 0.5), Param(np.zeros((H_size, 1)))
    W_i, b_i = Param(spread(H_size, z_size) * weight_sd + 0.5), Param(np.zeros((H_size, 1)))
    W_C, b_C = Param(spread(H_size, z_size) * weight_sd), Param(np.zeros((H_size, 1)))
    W_o, b_o = Param(spread(H_size, z_size) * weight_sd + 0.5), Param(np.zeros((H_size, 1)))
    W_v, b_v = Param(spread(X_size, H_size) * weight_sd), Param(np.zeros((X_size, 1)))


everything = [p.W_f, p.W_i, p.W_C, p.W_o, p.W_v, p.b_f, p.b_i, p.b_C, p.b_o, p.b_v]
tanh = np.tanh


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def dsigmoid(y):
    return y * (1 - y)


def dtanh(y):
    return 1 - y * y


def forward(x, h_prev, C_prev):
    z = np.vstack((h_prev, x))
    f = sigmoid(np.dot(p.W_f.v, z) + p.b_f.v)
    i = sigmoid(np.dot(p.W_i.v, z) + p.b_i.v)
    C_bar = tanh(np.dot(p.W_C.v, z) + p.b_C.v)
    C = f * C_prev + i * C_bar
    o = sigmoid(np.dot(p.W_o.v, z) + p.b_o.v)
    h = o * tanh(C)
    v = np.dot(p.W_v.v, h) + p.b_v.v
    y = np.exp(v) / np.sum(np.exp(v))  # softmax
    return z, f, i, C_bar, C, o, h, y


def backward(target, dh_next, dC_next, C_prev, z, f, i, C_bar, C, o, h, y):
    dv = np.copy(y)
    dv[target] -= 1

    p.W_v.d += np.dot(dv, h.T)
    p.b_v.d += dv

    dh = np.dot(p.W_v.v.T, dv)
    dh += dh_next
    do = dh * tanh(C)
    do = dsigmoid(o) * do
    p.W_o.d += np.dot(do, z.T)
    p.b_o.d += do

    dC = np.copy(dC_next)
    dC += dh * o * dtanh(tanh(C))
    dC_bar = dC * i
    dC_bar = dtanh(C_bar) * dC_bar
    p.W_C.d += np.dot(dC_bar, z.T)
    p.b_C.d += dC_bar

    di = dC * C_bar
    di = dsigmoid(i) * di
    p.W_i.d += np.dot(di, z.T)
    p.b_i.d += di

    df = dC * C_prev
    df = dsigmoid(f) * df
    p.W_f.d += np.dot(df, z.T)
    p.b_f.d += df

    dz = np.dot(p.W_f.v.T, df) + np.dot(p.W_i.v.T, di) + np.dot(p.W_C.v.T, dC_bar) + np.dot(p.W_o.v.T, do)
    return dz[:H_size, :], f * dC


def forward_backward(inputs, targets, h_prev, C_prev):
    h_s, C_s, saved = {-1: np.copy(h_prev)}, {-1: np.copy(C_prev)}, {}
    loss = 0
    for t in range(len(inputs)):
        x = np.zeros((X_size, 1))
        x[inputs[t]] = 1  # Input character
        saved[t] = forward(x, h_s[t - 1], C_s[t - 1])
        C_s[t], h_s[t] = saved[t][4], saved[t][6]
        loss += -np.log(saved[t][7][targets[t], 0])  # Loss for at t
    for param in everything:
        param.d.fill(0)
    dh_next, dC_next = np.zeros_like(h_s[0]), np.zeros_like(C_s[0])
    for t in reversed(range(len(inputs))):
        dh_next, dC_next = backward(targets[t], dh_next, dC_next, C_s[t - 1], *saved[t])
    for param in everything:
        np.clip(param.d, -1, 1, out=param.d)
    return loss, h_s[len(inputs) - 1], C_s[len(inputs) - 1]


def update_parameters():
    for q in everything:
        q.m += q.d * q.d  # Calculate sum of gradients
        q.v += -(learning_rate * q.d / np.sqrt(q.m + 1e-8))


smooth_loss = -np.log(1.0 / X_size) * T_steps  # of a random model
pointer = 0
for iteration in range(max_iters):
    if pointer + T_steps >= len(data) or iteration == 0:
        h_prev, C_prev = np.zeros((H_size, 1)), np.zeros((H_size, 1))
        pointer = 0
    inputs = [char_to_idx[ch] for ch in data[pointer:pointer + T_steps]]
    targets = [char_to_idx[ch] for ch in data[pointer + 1:pointer + T_steps + 1]]
    loss, h_prev, C_prev = forward_backward(inputs, targets, h_prev, C_prev)
    smooth_loss = smooth_loss * 0.999 + loss * 0.001
    if iteration % dump == 0:
        print("iter %d, loss %.9f" % (iteration, smooth_loss))
    update_parameters()
    pointer += T_steps
print("iter %d, loss %.9f" % (max_iters, smooth_loss))
